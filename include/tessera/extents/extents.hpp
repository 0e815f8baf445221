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

/// A tensor has at most 8 dims, the limit of a Kokkos::View.
inline constexpr int max_tensor_dims = 8;

/// Holds one 64-bit number per tensor dim: a shape, an offset, a coordinate or strides. The numbers
/// are stored inline, without allocation.
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

  /// Copies any range of integers that has a size.
  template <std::ranges::sized_range Range>
  requires std::integral<std::ranges::range_value_t<Range>> Extents(const Range& values) {
    assign(values);
  }

  /// Returns `size` numbers that all equal `value`.
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

  /// Adds a number at the end. Errors: InvalidArgument if there are 8 already.
  void push_back(std::int64_t value) {
    require(size_ < max_tensor_dims, "Extents: expected at most 8 tensor dims");
    values_[size_++] = value;
  }

  /// Removes the last number and returns it. Expects at least one number.
  constexpr std::int64_t pop_back() { return values_[--size_]; }
  /// Keeps the first `size` numbers. Expects at least `size` numbers.
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

/// Returns the number of elements, which is 1 for 0-d. Expects that it fits into 64 bits;
/// checked_product() checks it.
std::int64_t product(const Extents& extents);

/// Returns the number of elements of a shape that has not been checked yet.
///
/// Errors: InvalidArgument for a negative extent or 2^63 elements or more.
std::int64_t checked_product(const Extents& shape);

/// Returns the numbers as text: "(4, 3)"; "()" for 0-d.
std::string to_string(const Extents& extents);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const Extents& value);

/// Returns the strides, in elements, of a dense row-major (last dim fastest) array.
Extents row_major_strides(const Extents& shape);

/// Returns the strides, in elements, of a dense column-major (first dim fastest) array.
Extents column_major_strides(const Extents& shape);

}  // namespace tessera
