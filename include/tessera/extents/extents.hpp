// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <tessera/error/error.hpp>

namespace tessera {

/// Largest number of tensor dims, that of a Kokkos::View.
inline constexpr int max_tensor_dims = 8;

/// One 64-bit number per tensor dim: a shape, an offset, a coordinate or strides. Holds its numbers
/// inline, never allocates.
///
/// Converts from and to std::vector<std::int64_t> and compares with it.
/// Errors: InvalidArgument for more than 8 numbers.
class Extents {
 public:
  using value_type = std::int64_t;
  using iterator = std::int64_t*;
  using const_iterator = const std::int64_t*;

  constexpr Extents() = default;
  Extents(std::initializer_list<std::int64_t> values) { assign(values); }

  /// From any range of integers that has a size.
  template <std::ranges::sized_range Range>
  requires std::integral<std::ranges::range_value_t<Range>> Extents(const Range& values) {
    assign(values);
  }

  /// `size` times `value`.
  static Extents filled(std::size_t size, std::int64_t value) {
    require(size <= max_tensor_dims, "Extents: expected at most 8 tensor dims");
    Extents result;
    result.size_ = size;
    for (auto& extent : result) extent = value;
    return result;
  }

  operator std::vector<std::int64_t>() const { return {begin(), end()}; }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr std::int64_t& operator[](std::size_t i) { return values_[i]; }
  constexpr std::int64_t operator[](std::size_t i) const { return values_[i]; }
  constexpr iterator begin() { return values_.data(); }
  constexpr iterator end() { return values_.data() + size_; }
  constexpr const_iterator begin() const { return values_.data(); }
  constexpr const_iterator end() const { return values_.data() + size_; }

  /// Appends a number. Errors: InvalidArgument if there are 8.
  void push_back(std::int64_t value) {
    require(size_ < max_tensor_dims, "Extents: expected at most 8 tensor dims");
    values_[size_++] = value;
  }

  /// Drops the last number and gives it. Expects one.
  constexpr std::int64_t pop_back() { return values_[--size_]; }
  /// Keeps the first `size` numbers. Expects as many.
  constexpr void truncate(std::size_t size) { size_ = size; }

  friend constexpr bool operator==(const Extents& a, const Extents& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }

 private:
  template <class Range>
  void assign(const Range& values) {
    for (const auto value : values) push_back(static_cast<std::int64_t>(value));
  }

  std::array<std::int64_t, max_tensor_dims> values_{};
  std::size_t size_ = 0;
};

/// Number of elements, 1 for 0-d. Expects that it fits 64 bits, see checked_product.
std::int64_t product(const Extents& extents);

/// The same for numbers that came from outside.
///
/// Errors: InvalidArgument, naming `function`, for a negative extent or a product of more than 64
/// bits.
std::int64_t checked_product(const Extents& shape, const char* function);

/// "(4, 3)"; "()" for 0-d.
std::string to_string(const Extents& extents);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const Extents& value);

/// Strides, in elements, of a dense row-major (last dim fastest) array.
Extents row_major_strides(const Extents& shape);

/// Strides, in elements, of a dense column-major (first dim fastest) array.
Extents column_major_strides(const Extents& shape);

}  // namespace tessera
