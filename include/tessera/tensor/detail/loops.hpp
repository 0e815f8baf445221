// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include <Kokkos_Core.hpp>

#include <tessera/extents/extents.hpp>

namespace tessera::detail {

/// There is at most one loop per tensor dim, and one more for the words of an element.
inline constexpr int max_loops = max_tensor_dims + 1;

/// Holds a number for each loop.
struct LoopArray {
  std::int64_t values[max_loops];

  template <std::integral I>
  KOKKOS_FUNCTION std::int64_t& operator[](I loop) {
    return values[loop];
  }
  template <std::integral I>
  KOKKOS_FUNCTION const std::int64_t& operator[](I loop) const {
    return values[loop];
  }
  std::int64_t* data() { return values; }
};

/// Describes nested loops, outermost first, at least one. The innermost loop is split into chunks;
/// one item is one chunk of it.
///
/// Example: extents {3, 10}, chunk 4: items 0 … 8; item 4 is {1, 4}, of length 4; item 5 is {1, 8},
/// of length 2.
struct Loops {
  int ndims = 1;
  LoopArray extents{1};
  std::int64_t chunk = 1;

  /// Says where an item begins, and how many steps of the innermost loop it has.
  struct Item {
    LoopArray index;  ///< indices by loop; 0 beyond the last loop
    std::int64_t length;
  };

  KOKKOS_FUNCTION std::int64_t chunks() const { return (extents[ndims - 1] + chunk - 1) / chunk; }

  /// Returns the number of items.
  KOKKOS_FUNCTION std::int64_t items() const {
    std::int64_t result = chunks();
    for (int d = 0; d < ndims - 1; ++d) result *= extents[d];
    return result;
  }

  KOKKOS_FUNCTION Item item(std::int64_t position) const {
    Item result{};
    std::int64_t rest = position;
    for (int d = ndims - 1; d > 0; --d) {
      const std::int64_t extent = d == ndims - 1 ? chunks() : extents[d];
      result.index[d] = rest % extent;
      rest /= extent;
    }
    result.index[0] = rest;
    result.index[ndims - 1] *= chunk;
    set_length(result);
    return result;
  }

  /// Moves `item` to the next item, without divisions.
  KOKKOS_FUNCTION void advance(Item& item) const {
    int d = ndims - 1;
    item.index[d] += chunk;
    for (; d > 0 && item.index[d] >= extents[d]; --d) {
      item.index[d] = 0;
      ++item.index[d - 1];
    }
    set_length(item);
  }

  KOKKOS_FUNCTION void set_length(Item& item) const {
    const std::int64_t left = extents[ndims - 1] - item.index[ndims - 1];
    item.length = left < chunk ? left : chunk;
  }

  /// Returns the distance of the item's beginning from index 0, in the unit of `strides`.
  KOKKOS_FUNCTION std::int64_t offset(const Item& item, const LoopArray& strides) const {
    std::int64_t result = 0;
    for (int d = 0; d < max_loops; ++d) result += item.index[d] * strides[d];
    return result;
  }
};

/// Returns the upper 64 bits of the product a b.
KOKKOS_INLINE_FUNCTION std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t low = 0xffffffff;
  const auto first = (a & low) * (b & low);
  const auto second = (a >> 32) * (b & low) + (first >> 32);
  const auto third = (a & low) * (b >> 32) + (second & low);
  return (a >> 32) * (b >> 32) + (second >> 32) + (third >> 32);
}

/// Divides by a number that is known before the kernel starts, with multiplications and shifts:
/// devices have no instruction that divides numbers of 64 bits.
///
/// Source: Granlund and Montgomery, Division by Invariant Integers using Multiplication (1994):
/// for 0 ≤ n < 2^63 and l = ⌈log2 d⌉, n / d = ⌊n m / 2^(63 + l)⌋ with m = ⌊2^(63 + l) / d⌋ + 1.
class Divisor {
 public:
  Divisor() = default;
  /// Expects d ≥ 1.
  explicit Divisor(std::int64_t d);

  KOKKOS_FUNCTION std::int64_t quotient(std::int64_t n) const {
    if (multiplier_ == 0) return n;
    return static_cast<std::int64_t>(high_product(static_cast<std::uint64_t>(n), multiplier_) >>
                                     shift_);
  }

 private:
  std::uint64_t multiplier_ = 0;  ///< m above; 0 if d is 1
  int shift_ = 0;
};

/// Describes nested loops for kernels on devices. Each thread has one element; neighbouring threads
/// have neighbouring elements of the innermost loop. Finding an element takes no divisions and no
/// arrays in a thread's own memory.
struct DeviceLoops {
  int size = 0;
  LoopArray extents{};
  Divisor divisors[max_loops];

  DeviceLoops() = default;
  /// Expects no extent 0.
  explicit DeviceLoops(const Extents& all);
  DeviceLoops(const Extents& outer, std::int64_t innermost);

  /// Adds a loop inside the others.
  void add(std::int64_t extent);

  std::int64_t items() const {
    std::int64_t result = 1;
    for (int d = 0; d < size; ++d) result *= extents[d];
    return result;
  }

  /// Calls visit(d, index) for each loop d with its index at `item`, innermost loop first.
  template <class Visit>
  KOKKOS_FUNCTION void at(std::int64_t item, const Visit& visit) const {
    for (int d = size - 1; d > 0; --d) {
      const auto outer = divisors[d].quotient(item);
      visit(d, item - outer * extents[d]);
      item = outer;
    }
    if (size > 0) visit(0, item);
  }
};

/// Returns loops over all of `extents`, at least one loop. Expects no extent 0.
Loops make_loops(const Extents& extents, std::int64_t chunk);

/// Returns `strides` in the form that Loops take: 0 beyond the last dim.
LoopArray loop_strides(const Extents& strides);

/// Drops extents of 1, and joins dims that follow each other, here and in memory, for every operand.
/// strides[k] holds the strides of operand k; all change together with `extents`.
void join_dims(Extents& extents, std::span<Extents> strides);

/// Reduces the number of loops over the same elements: drops extents of 1, sorts by the first
/// operand's strides (largest outermost), and joins dims that form one dim for every operand.
/// strides[k] holds the strides of operand k; all change together with `extents`.
void simplify(Extents& extents, std::span<Extents> strides);

}  // namespace tessera::detail
