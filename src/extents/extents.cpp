// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/extents/extents.hpp>

namespace tessera {

namespace {

/// Returns the product a b modulo 2^64. Strides of a shape with an extent 0 may exceed 64 bits, but
/// no element is read with them.
std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

}  // namespace

std::int64_t product(const Extents& extents) {
  std::int64_t result = 1;
  for (const auto extent : extents) {
    if (extent == 0) return 0;
    result = wrapping_product(result, extent);
  }
  return result;
}

std::int64_t checked_product(const Extents& shape) {
  std::int64_t result = 1;
  bool has_zero = false;
  bool overflows = false;
  for (const auto extent : shape) {
    require(extent >= 0,
            [&] { return fmt::format("expected extents >= 0, got shape {}", to_string(shape)); });
    has_zero = has_zero || extent == 0;
    overflows = __builtin_mul_overflow(result, extent, &result) || overflows;
  }
  require(!overflows || has_zero, [&] {
    return fmt::format("expected a shape of fewer than 2^63 elements, got {}", to_string(shape));
  });
  return has_zero ? 0 : result;
}

std::string to_string(const Extents& extents) {
  return fmt::format("({})", fmt::join(extents.begin(), extents.end(), ", "));
}

Extents row_major_strides(const Extents& shape) {
  auto strides = Extents::filled(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = wrapping_product(strides[d], shape[d]);
  return strides;
}

Extents column_major_strides(const Extents& shape) {
  auto strides = Extents::filled(shape.size(), 1);
  for (std::size_t d = 1; d < shape.size(); ++d)
    strides[d] = wrapping_product(strides[d - 1], shape[d - 1]);
  return strides;
}

std::ostream& operator<<(std::ostream& out, const Extents& value) {
  return out << to_string(value);
}

}  // namespace tessera
