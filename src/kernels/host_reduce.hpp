// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "kernels/arithmetic.hpp"
#include "kernels/avx2.hpp"
#include "kernels/host_tiles.hpp"
#include "kernels/non_temporal_copy.hpp"
#include "kernels/reduction.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {

/// Reduces on the host, one tile of the innermost loop per index. Strided or misaligned rows are
/// gathered into tiles, so that all arithmetic runs on dense data.
template <class T, class Op>
struct HostReduce : HostTiles {
  static constexpr auto element = static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t unit = reduce_tile_bytes / element;

  explicit HostReduce(const std::shared_ptr<const Reduction>& reduced) : HostTiles(reduced, unit) {}

  void operator()(std::int64_t i) const { (*this)(i, i + 1); }

  /// Reduces tiles first … last - 1.
  void operator()(std::int64_t first, std::int64_t last) const {
    alignas(64) T buffer[deepest_tree * unit];
    auto item = loops.item(first);
    for (auto i = first; i < last; ++i, loops.advance(item)) reduce_tile(item, buffer);
  }

  void reduce_tile(const Loops::Item& item, T* buffer) const {
    const auto& destination = reduction->destination;
    const bool is_non_temporal = reduction->stores == Stores::non_temporal;
    auto* const begins_at = begin(item, destination);
    const bool is_direct = !is_non_temporal && is_dense(begins_at, destination);
    T* to = is_direct ? reinterpret_cast<T*>(begins_at) : buffer;

    const auto operands = static_cast<std::int64_t>(reduction->operands.size());
    if (operands == 1)
      std::memmove(to, fold(item, 0, 1, buffer), static_cast<std::size_t>(item.length * element));
    else
      fold_into(to, item, 0, operands, buffer);
    if (!is_direct) store(item, to);
  }

  /// Returns whether the elements from `begin` on are contiguous and aligned for T.
  bool is_dense(const std::byte* begin, const Operand& operand) const {
    return stride(operand) == element && reinterpret_cast<std::uintptr_t>(begin) % alignof(T) == 0;
  }

  /// Combines operands first … last - 1 by the tree and returns where the result is: a single dense
  /// operand stays in place; any other result is in `buffer`, which takes one more tile for each
  /// level.
  const T* fold(const Loops::Item& item, std::int64_t first, std::int64_t last, T* buffer) const {
    if (last - first == 1)
      return load(item, reduction->operands[static_cast<std::size_t>(first)], buffer);
    fold_into(buffer, item, first, last, buffer);
    return buffer;
  }

  /// Combines operands first … last - 1 into `to`, which may be one of the operands: it is written
  /// when all of them have been read.
  void fold_into(T* to, const Loops::Item& item, std::int64_t first, std::int64_t last,
                 T* buffer) const {
    const auto middle = split_point(first, last);
    const T* left = fold(item, first, middle, buffer);
    const T* right = fold(item, middle, last, buffer + tile);
    if (left == to)
      (has_avx2 ? append_by_avx2 : append)(to, right, item.length);
    else if (right == to)
      (has_avx2 ? prepend_by_avx2 : prepend)(to, left, item.length);
    else
      (has_avx2 ? combine_by_avx2 : combine)(to, left, right, item.length);
  }

  TESSERA_INLINED static void combine(T* __restrict to, const T* left, const T* right,
                                      std::int64_t length) {
    for (std::int64_t k = 0; k < length; ++k) to[k] = Op{}(left[k], right[k]);
  }
  TESSERA_INLINED static void append(T* __restrict to, const T* __restrict right,
                                     std::int64_t length) {
    for (std::int64_t k = 0; k < length; ++k) to[k] = Op{}(to[k], right[k]);
  }
  TESSERA_INLINED static void prepend(T* __restrict to, const T* __restrict left,
                                      std::int64_t length) {
    for (std::int64_t k = 0; k < length; ++k) to[k] = Op{}(left[k], to[k]);
  }

  // The AVX2 variants of the functions above are twice as fast where operands are in a cache.
  TESSERA_FOR_AVX2 static void combine_by_avx2(T* __restrict to, const T* left, const T* right,
                                               std::int64_t length) {
    combine(to, left, right, length);
  }
  TESSERA_FOR_AVX2 static void append_by_avx2(T* __restrict to, const T* __restrict right,
                                              std::int64_t length) {
    append(to, right, length);
  }
  TESSERA_FOR_AVX2 static void prepend_by_avx2(T* __restrict to, const T* __restrict left,
                                               std::int64_t length) {
    prepend(to, left, length);
  }

  const T* load(const Loops::Item& item, const Operand& operand, T* buffer) const {
    const auto* from = begin(item, operand);
    if (is_dense(from, operand)) return reinterpret_cast<const T*>(from);
    for (std::int64_t k = 0; k < item.length; ++k)
      std::memcpy(buffer + k, from + k * stride(operand), sizeof(T));
    return buffer;
  }

  void store(const Loops::Item& item, const T* result) const {
    auto* to = begin(item, reduction->destination);
    if (stride(reduction->destination) == element)
      return non_temporal_copy(to, reinterpret_cast<const std::byte*>(result),
                               item.length * element, 0);
    for (std::int64_t k = 0; k < item.length; ++k)
      std::memcpy(to + k * stride(reduction->destination), result + k, sizeof(T));
  }
};

}  // namespace tessera::detail
