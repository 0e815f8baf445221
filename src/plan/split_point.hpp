// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For kernels: where the fixed tree of a reduction branches.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Returns where the fixed tree over operands first … last - 1 (two or more) branches: first + the
/// largest power of two below their number.
constexpr std::int64_t split_point(std::int64_t first, std::int64_t last) {
  std::int64_t power = 1;
  while (2 * power < last - first) power *= 2;
  return first + power;
}

}  // namespace tessera::detail
