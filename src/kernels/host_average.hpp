// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "kernels/avx2.hpp"
#include "kernels/host_tiles.hpp"
#include "kernels/reduction.hpp"
#include "kernels/tuning.hpp"
#include "kernels/wide_sum.hpp"

namespace tessera::detail {

/// A row of wide sums, held so that vector instructions work on it: each of the first two fields of
/// WideSum<T> is a row of its own.
template <class T, class Sum = WideSum<T>>
struct SumRow {
  using Field = Sum;
  static constexpr int fields = 1;

  Field* first;
  Field* second;

  TESSERA_INLINED void set(std::int64_t k, T value) const { first[k] = widened(value); }
  TESSERA_INLINED void add(std::int64_t k, const SumRow& right) const {
    first[k] += right.first[k];
  }
  Sum get(std::int64_t k) const { return first[k]; }
  TESSERA_INLINED T average(std::int64_t k, std::int64_t divisor) const {
    return average_of<T>(first[k], divisor);
  }
};

template <class T>
struct SumRow<T, HalvedSum> {
  using Field = std::int64_t;
  static constexpr int fields = 2;

  Field* first;
  Field* second;

  TESSERA_INLINED void set(std::int64_t k, T value) const {
    const auto sum = widened(value);
    first[k] = sum.high;
    second[k] = static_cast<std::int64_t>(sum.low);
  }
  TESSERA_INLINED void add(std::int64_t k, const SumRow& right) const {
    first[k] += right.first[k];
    second[k] += right.second[k];
  }
  HalvedSum get(std::int64_t k) const { return {first[k], static_cast<std::uint64_t>(second[k])}; }
  TESSERA_INLINED T average(std::int64_t k, std::int64_t divisor) const {
    return average_of<T>(get(k), divisor);
  }
};

/// Holds sums whose factors are 1: an element that is large has no place in such a row.
template <class T>
struct SumRow<T, CompensatedSum<T>> {
  using Field = T;
  static constexpr int fields = 2;

  Field* first;
  Field* second;

  TESSERA_INLINED void set(std::int64_t k, T value) const {
    first[k] = value;
    second[k] = T{0};
  }
  TESSERA_INLINED void add(std::int64_t k, const SumRow& right) const {
    const auto sum = added_without_factor(first[k], second[k], right.first[k], right.second[k]);
    first[k] = sum.sum;
    second[k] = sum.rest;
  }
  CompensatedSum<T> get(std::int64_t k) const { return {first[k], second[k], T{1}}; }
  TESSERA_INLINED T average(std::int64_t k, std::int64_t divisor) const {
    return divided_without_factor(first[k], second[k], static_cast<T>(divisor));
  }
};

/// Averages on the host, one tile of the innermost loop per index. T is an integer or a
/// floating-point type; a complex element is two of them.
template <class T>
struct HostAverage : HostTiles {
  using Sum = WideSum<T>;
  using Row = SumRow<T>;
  using Field = typename Row::Field;
  static constexpr std::int64_t unit =
      reduce_tile_bytes / (Row::fields * static_cast<std::int64_t>(sizeof(Field)));
  static constexpr std::int64_t longest_tile = most_reduce_tile_units * unit;

  std::int64_t parts;  ///< numbers that are an element

  HostAverage(const std::shared_ptr<const Reduction>& reduced, int parts_of_element)
      : HostTiles(reduced, unit, parts_of_element), parts(parts_of_element) {}

  void operator()(std::int64_t i) const { (*this)(i, i + 1); }

  /// Takes tiles first … last - 1.
  void operator()(std::int64_t first, std::int64_t last) const {
    alignas(64) Field buffer[deepest_tree * unit * Row::fields];
    auto item = loops.item(first);
    for (auto i = first; i < last; ++i, loops.advance(item))
      if (reduction->operands_are_sums || !average_tile(item, buffer)) average_each(item);
  }

  // A tile by rows.

  /// Returns false, and has written nothing, if an element is so large that a sum might overflow.
  bool average_tile(const Loops::Item& item, Field* buffer) const {
    const Row sums{buffer, buffer + tile};
    const auto length = item.length * parts;
    if (!fold(item, 0, operands(), buffer)) return false;
    const auto& destination = reduction->destination;
    auto* const to = begin(item, destination);
    if (reduction->result_is_sum) {
      for (std::int64_t k = 0; k < length; ++k) put(sums.get(k), to, destination, k);
    } else if (is_dense(to, destination)) {
      (has_avx2 ? divide_by_avx2 : divide)(sums, length, reduction->divisor,
                                           reinterpret_cast<T*>(to));
    } else {
      for (std::int64_t k = 0; k < length; ++k)
        put(sums.average(k, reduction->divisor), to, destination, k);
    }
    return true;
  }

  /// Adds operands first … last - 1 by the tree into `buffer`, which takes one more tile for each
  /// level. Returns false if an element is large.
  bool fold(const Loops::Item& item, std::int64_t first, std::int64_t last, Field* buffer) const {
    const Row sums{buffer, buffer + tile};
    const auto length = item.length * parts;
    if (last - first == 1) return load(item, operand(first), sums);
    const auto middle = split_point(first, last);
    auto* const beyond = buffer + Row::fields * tile;
    if (!fold(item, first, middle, buffer) || !fold(item, middle, last, beyond)) return false;
    (has_avx2 ? add_by_avx2 : add)(sums, {beyond, beyond + tile}, length);
    return true;
  }

  bool load(const Loops::Item& item, const Operand& operand, const Row& sums) const {
    const auto* const from = begin(item, operand);
    const auto length = item.length * parts;
    if (is_dense(from, operand))
      return (has_avx2 ? widen_by_avx2 : widen)(reinterpret_cast<const T*>(from), length, sums);
    alignas(64) T gathered[longest_tile];
    for (std::int64_t k = 0; k < length; ++k) gathered[k] = get<T>(from, operand, k);
    return (has_avx2 ? widen_by_avx2 : widen)(gathered, length, sums);
  }

  TESSERA_INLINED static bool widen(const T* __restrict from, std::int64_t length,
                                    const Row& sums) {
    for (std::int64_t k = 0; k < length; ++k) sums.set(k, from[k]);
    if constexpr (std::is_same_v<Sum, CompensatedSum<T>>) {
      std::int64_t large = 0;
      for (std::int64_t k = 0; k < length; ++k)
        large |= std::int64_t{from[k] > Sum::large} | std::int64_t{from[k] < -Sum::large};
      return large == 0;
    }
    return true;
  }
  TESSERA_INLINED static void add(const Row& sums, const Row& right, std::int64_t length) {
    for (std::int64_t k = 0; k < length; ++k) sums.add(k, right);
  }
  TESSERA_INLINED static void divide(const Row& sums, std::int64_t length, std::int64_t divisor,
                                     T* __restrict to) {
    if constexpr (std::is_same_v<Sum, std::int64_t>)
      if (divide_short(sums.first, length, divisor, to)) return;
    for (std::int64_t k = 0; k < length; ++k) to[k] = sums.average(k, divisor);
  }
  /// Divides sums that fit 32 bits, for which there are more vector instructions. Returns false, and
  /// has written nothing, if one does not.
  TESSERA_INLINED static bool divide_short(const std::int64_t* __restrict sums, std::int64_t length,
                                           std::int64_t divisor, T* __restrict to) {
    std::int64_t long_ones = 0;
    for (std::int64_t k = 0; k < length; ++k) long_ones |= sums[k] < 0 ? ~sums[k] : sums[k];
    if (long_ones > std::numeric_limits<std::int32_t>::max()) return false;
    const auto n = static_cast<double>(divisor);
    for (std::int64_t k = 0; k < length; ++k)
      to[k] = static_cast<T>(static_cast<std::int32_t>(static_cast<std::int32_t>(sums[k]) / n));
    return true;
  }

  TESSERA_FOR_AVX2 static bool widen_by_avx2(const T* __restrict from, std::int64_t length,
                                             const Row& sums) {
    return widen(from, length, sums);
  }
  TESSERA_FOR_AVX2 static void add_by_avx2(const Row& sums, const Row& right, std::int64_t length) {
    add(sums, right, length);
  }
  TESSERA_FOR_AVX2 static void divide_by_avx2(const Row& sums, std::int64_t length,
                                              std::int64_t divisor, T* __restrict to) {
    divide(sums, length, divisor, to);
  }

  // The same for one number after another.

  void average_each(const Loops::Item& item) const {
    const auto& destination = reduction->destination;
    auto* const to = begin(item, destination);
    for (std::int64_t k = 0; k < item.length * parts; ++k) {
      const auto sum = sum_of(item, k, 0, operands());
      if (reduction->result_is_sum)
        put(sum, to, destination, k);
      else
        put(average_of<T>(sum, reduction->divisor), to, destination, k);
    }
  }

  Sum sum_of(const Loops::Item& item, std::int64_t k, std::int64_t first, std::int64_t last) const {
    if (last - first == 1) {
      const auto* const from = begin(item, operand(first));
      if (reduction->operands_are_sums) return get<Sum>(from, operand(first), k);
      return widened(get<T>(from, operand(first), k));
    }
    const auto middle = split_point(first, last);
    return added(sum_of(item, k, first, middle), sum_of(item, k, middle, last));
  }

  // Memory of the arrays.

  std::int64_t operands() const { return static_cast<std::int64_t>(reduction->operands.size()); }
  const Operand& operand(std::int64_t t) const {
    return reduction->operands[static_cast<std::size_t>(t)];
  }

  bool is_dense(const std::byte* begin, const Operand& operand) const {
    return stride(operand) == parts * static_cast<std::int64_t>(sizeof(T)) &&
           reinterpret_cast<std::uintptr_t>(begin) % alignof(T) == 0;
  }

  /// Returns the distance of number k of a tile from its beginning, bytes.
  template <class Number>
  std::int64_t distance(const Operand& operand, std::int64_t k) const {
    return k / parts * stride(operand) + k % parts * static_cast<std::int64_t>(sizeof(Number));
  }
  template <class Number>
  Number get(const std::byte* begin, const Operand& operand, std::int64_t k) const {
    Number number;
    std::memcpy(&number, begin + distance<Number>(operand, k), sizeof(Number));
    return number;
  }
  template <class Number>
  void put(const Number& number, std::byte* begin, const Operand& operand, std::int64_t k) const {
    std::memcpy(begin + distance<Number>(operand, k), &number, sizeof(Number));
  }
};

}  // namespace tessera::detail
