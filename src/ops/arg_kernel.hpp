// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/detail/index_map.hpp>
#include <tessera/tensor/detail/loops.hpp>

#include "ops/tuning.hpp"

namespace tessera::detail {

/// Describes what ArgKernel goes through, in row-major order: loops over results, and over the elements of
/// each. Dims that follow one another in memory are one loop.
struct ArgLoops {
  const std::byte* data;
  DeviceLoops kept;
  DeviceLoops reduced;
  LoopArray kept_strides{};     ///< strides of the elements, bytes
  LoopArray reduced_strides{};  ///< bytes
  DeviceLoops reduced_dims;     ///< one loop for each reduced dim
  Kokkos::Array<IndexMap, max_loops> maps{};
  LoopArray global_strides{};  ///< steps of the global position, by reduced dim
  std::int64_t results = 1;
  std::int64_t elements = 1;
  /// Tells whether neighbours in memory belong to different results.
  bool is_inner_kept = false;

  /// Returns the global position of the reduced element at a local one; -1 for none.
  KOKKOS_FUNCTION std::int64_t global_position(std::int64_t local) const {
    if (local < 0) return -1;
    std::int64_t result = 0;
    reduced_dims.at(local, [&](int d, std::int64_t index) {
      result += maps[d].global_index(index) * global_strides[d];
    });
    return result;
  }
};

/// Returns whether element `a` at position `i` is a better answer than `b` at `j`.
template <bool IsMax, class T>
KOKKOS_FUNCTION bool is_better(const T& a, std::int64_t i, const T& b, std::int64_t j) {
  if (j < 0) return true;
  if (i < 0) return false;
  const bool a_is_nan = !(a == a), b_is_nan = !(b == b);
  if (a_is_nan != b_is_nan) return a_is_nan;
  if (!a_is_nan && a != b) return IsMax ? a > b : a < b;
  return i < j;
}

/// Returns whether a later element takes the place of `best`.
template <bool IsMax, class T>
KOKKOS_FUNCTION bool replaces(const T& value, const T& best) {
  const bool is_beyond = IsMax ? value > best : value < best;
  return (int{is_beyond} | (int{value != value} & int{best == best})) != 0;
}

/// Finds the best element of each part of each result, and its global position; -1 if there are no elements.
///
/// On a device, part p has elements p, p + parts, …, so that neighbouring threads read neighbouring elements
/// of row-major arrays. On the host, a part is a run of successive elements.
template <bool IsMax, class T>
struct ArgKernel {
  ArgLoops loops;
  std::int64_t parts;
  bool is_interleaved;
  T* values;
  std::int64_t* positions;  ///< both: [part][result]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const bool results_are_inner = !is_interleaved || loops.is_inner_kept;
    const auto part = results_are_inner ? i / loops.results : i % parts;
    const auto at = results_are_inner ? i % loops.results : i / parts;
    std::int64_t offset = 0;
    loops.kept.at(at, [&](int d, std::int64_t index) { offset += index * loops.kept_strides[d]; });
    // Local positions are in the order of global ones.
    Best best;
    if (is_interleaved)
      for (auto e = part; e < loops.elements; e += parts) best.take(read(offset + distance(e)), e);
    else
      take_run(part * loops.elements / parts, (part + 1) * loops.elements / parts, offset, best);
    values[part * loops.results + at] = best.value;
    positions[part * loops.results + at] = loops.global_position(best.position);
  }

 private:
  struct Best {
    T value{};
    std::int64_t position = -1;

    KOKKOS_FUNCTION void take(const T& later, std::int64_t at) {
      if (position >= 0 && !replaces<IsMax>(later, value)) return;
      value = later;
      position = at;
    }
  };

  KOKKOS_FUNCTION T read(std::int64_t offset) const {
    return *reinterpret_cast<const T*>(loops.data + offset);
  }

  KOKKOS_FUNCTION std::int64_t distance(std::int64_t e) const {
    std::int64_t result = 0;
    loops.reduced.at(
        e, [&](int d, std::int64_t index) { result += index * loops.reduced_strides[d]; });
    return result;
  }

  /// Takes elements [begin, end), a row of the innermost loop after the other.
  KOKKOS_FUNCTION void take_run(std::int64_t begin, std::int64_t end, std::int64_t offset,
                                Best& best) const {
    const int inner = loops.reduced.size - 1;
    if (inner < 0) {
      if (begin < end) best.take(read(offset), 0);
      return;
    }
    const auto extent = loops.reduced.extents[inner], stride = loops.reduced_strides[inner];
    while (begin < end) {
      const auto left = extent - begin % extent;
      const auto row = left < end - begin ? left : end - begin;
      constexpr std::int64_t block = arg_block;
      const auto length = row < block ? row : block;
      take_block(begin, length, offset + distance(begin), stride, best);
      begin += length;
    }
  }

  /// Takes some elements of a row. Most blocks have no element that is better than the best so far, which a
  /// loop without branches tells.
  KOKKOS_FUNCTION void take_block(std::int64_t begin, std::int64_t length, std::int64_t from,
                                  std::int64_t stride, Best& best) const {
    if (best.position >= 0 && stride == std::int64_t{sizeof(T)}) {
      const auto* const row = reinterpret_cast<const T*>(loops.data + from);
      const T value = best.value;
      int counts = 0;
      for (std::int64_t k = 0; k < length; ++k) counts |= int{replaces<IsMax>(row[k], value)};
      if (counts == 0) return;
    }
    for (std::int64_t k = 0; k < length; ++k) best.take(read(from + k * stride), begin + k);
  }
};

/// Finds the same on the host where neighbours in memory belong to different results: one item is one part of
/// up to arg_row results, which take one row of elements after another.
template <bool IsMax, class T>
struct ArgRows {
  ArgLoops loops;
  std::int64_t parts;
  T* values;
  std::int64_t* positions;  ///< both: [part][result]

  KOKKOS_FUNCTION std::int64_t inner() const { return loops.kept.extents[loops.kept.size - 1]; }
  KOKKOS_FUNCTION std::int64_t chunks() const { return (inner() + arg_row - 1) / arg_row; }
  /// Returns the number of items of one part.
  KOKKOS_FUNCTION std::int64_t items() const { return loops.results / inner() * chunks(); }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto part = i / items(), row_of_results = i % items() / chunks();
    const auto begins = i % chunks() * arg_row, left = inner() - begins;
    const auto first = row_of_results * inner() + begins;
    constexpr std::int64_t most = arg_row;
    const auto length = left < most ? left : most;
    const auto begin = part * loops.elements / parts, end = (part + 1) * loops.elements / parts;
    std::int64_t offset = 0;
    loops.kept.at(first,
                  [&](int d, std::int64_t index) { offset += index * loops.kept_strides[d]; });
    const auto stride = loops.kept_strides[loops.kept.size - 1];
    T* const best = values + part * loops.results + first;
    std::int64_t* const at = positions + part * loops.results + first;
    const auto row_of = [&](std::int64_t e) {
      auto from = offset;
      loops.reduced.at(
          e, [&](int d, std::int64_t index) { from += index * loops.reduced_strides[d]; });
      return loops.data + from;
    };
    const auto* row = begin < end ? row_of(begin) : nullptr;
    for (std::int64_t k = 0; k < length; ++k) {
      best[k] = begin < end ? *reinterpret_cast<const T*>(row + k * stride) : T{};
      at[k] = begin < end ? begin : -1;
    }
    for (auto e = begin + 1; e < end; ++e) {
      row = row_of(e);
      if (stride == std::int64_t{sizeof(T)})
        take(reinterpret_cast<const T*>(row), e, length, best, at);
      else
        for (std::int64_t k = 0; k < length; ++k)
          take(reinterpret_cast<const T*>(row + k * stride), e, 1, best + k, at + k);
    }
    for (std::int64_t k = 0; k < length; ++k) at[k] = loops.global_position(at[k]);
  }

 private:
  KOKKOS_FUNCTION static void take(const T* row, std::int64_t e, std::int64_t length, T* best,
                                   std::int64_t* at) {
    for (std::int64_t k = 0; k < length; ++k) {
      const bool takes = replaces<IsMax>(row[k], best[k]);
      best[k] = takes ? row[k] : best[k];
      at[k] = takes ? e : at[k];
    }
  }
};

/// Points to what was found: both arrays are [part][result].
template <class T>
struct FoundParts {
  T* values;
  std::int64_t* positions;
  std::int64_t parts;
  std::int64_t results;

  /// Returns which part has the best of result `at` among the parts `first`, `first + step`, ….
  template <bool IsMax>
  KOKKOS_FUNCTION std::int64_t best(std::int64_t at, std::int64_t first, std::int64_t step) const {
    auto result = first * results + at;
    for (auto i = result + step * results; i < parts * results; i += step * results)
      if (is_better<IsMax>(values[i], positions[i], values[result], positions[result])) result = i;
    return result;
  }
};

/// Combines what was found to fewer parts.
template <bool IsMax, class T>
struct ArgFewerParts {
  FoundParts<T> from;
  FoundParts<T> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto best = from.template best<IsMax>(i % from.results, i / from.results, to.parts);
    to.values[i] = from.values[best];
    to.positions[i] = from.positions[best];
  }
};

/// Writes the best of all parts.
template <bool IsMax, class T>
struct ArgCombine {
  FoundParts<T> found;
  std::byte* result;
  DeviceLoops kept;
  LoopArray result_strides;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    std::int64_t to = 0;
    kept.at(at, [&](int d, std::int64_t index) { to += index * result_strides[d]; });
    *reinterpret_cast<std::int64_t*>(result + to) =
        found.positions[found.template best<IsMax>(at, 0, 1)];
  }
};

}  // namespace tessera::detail
