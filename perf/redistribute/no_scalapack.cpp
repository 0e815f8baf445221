// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "variant.hpp"

namespace tessera::perf {

std::vector<Variant> scalapack_variants(const Case& /*test_case*/, const Geometry& /*geometry*/) {
  return {};
}

}  // namespace tessera::perf
