// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/pack.hpp"
#include "ops/temporaries.hpp"

namespace tessera::detail {

/// Returns integers of any type as int64: the array itself, or a converted copy. Expects integers
/// that int64 holds.
inline OwnedArray index_values(const Execution& execution, Temporaries& temporaries,
                               const ArrayRef& integers, const char* label) {
  constexpr auto type = element_type<std::int64_t>();
  if (integers.type == type) return {integers, {}};
  auto result = temporaries.allocate(type, integers.extents, integers.space, label);
  copy(execution, integers, result.array);
  return result;
}

}  // namespace tessera::detail
