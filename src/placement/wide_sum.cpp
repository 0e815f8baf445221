// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "placement/wide_sum.hpp"

namespace tessera::detail {
namespace {

/// Returns the kind of the real and of the imaginary part.
ElementKind part_of(ElementKind kind) {
  constexpr int offset =
      static_cast<int>(ElementKind::complex64) - static_cast<int>(ElementKind::float32);
  return static_cast<ElementKind>(static_cast<int>(kind) - offset);
}

std::int32_t wide_size(ElementKind kind) {
  if (is_complex(kind)) return 2 * wide_size(part_of(kind));
  switch (kind) {
    case ElementKind::int64:
    case ElementKind::uint64:
      return 2 * sizeof(std::int64_t);
    case ElementKind::float64:
      return 3 * sizeof(double);
    case ElementKind::long_double:
      return 3 * sizeof(long double);
    default:
      return sizeof(std::int64_t);
  }
}

}  // namespace

ElementType wide_sum_type(ElementType type) {
  return {type.kind, wide_size(type.kind)};
}

bool is_wide_sum(ElementType type) {
  // No kind has elements as large as their wide sums.
  return type.kind != ElementKind::opaque && type.size == wide_size(type.kind);
}

}  // namespace tessera::detail
