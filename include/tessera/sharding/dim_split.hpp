// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/extents/box.hpp>
#include <tessera/placement/placement.hpp>
#include <tessera/sharding/sections.hpp>

namespace tessera {

/// Returns part `index` of the range `whole` split into `parts`: with c = ceil(size / parts), part
/// i is [ci, c(i+1)) clipped to the range.
///
/// Example: [0, 10) in 4 parts: [0, 3), [3, 6), [6, 9), [9, 10). Last parts may be short or empty.
/// Source:  chunk rule of torch.chunk.
constexpr Interval chunk(Interval whole, int parts, int index) {
  // Unsigned, because the products exceed 63 bits if the size is close to 2^63.
  const auto size = static_cast<std::uint64_t>(whole.size());
  const auto step =
      (size + static_cast<std::uint64_t>(parts) - 1) / static_cast<std::uint64_t>(parts);
  const auto begin = std::min(step * static_cast<std::uint64_t>(index), size);
  const auto end = std::min(begin + step, size);
  return {whole.begin + static_cast<std::int64_t>(begin),
          whole.begin + static_cast<std::int64_t>(end)};
}

/// Returns part `index` of the range `whole` split into `parts` whose sizes differ by at most one,
/// the larger parts first.
///
/// Example: [0, 10) in 4 parts: [0, 3), [3, 6), [6, 8), [8, 10).
constexpr Interval balanced_part(Interval whole, int parts, int index) {
  const auto size = whole.size() / parts;
  const auto larger = whole.size() % parts;
  const auto begin = whole.begin + index * size + std::min<std::int64_t>(index, larger);
  return {begin, begin + size + (index < larger ? 1 : 0)};
}

/// Describes how one tensor dim is split: by which mesh dims, in split order, by which rule, and
/// where.
struct DimSplit {
  std::int64_t extent = 0;
  std::vector<int> mesh_dims;
  std::vector<int> sizes;  ///< number of ranks along each of mesh_dims
  std::vector<std::int64_t>
      boundaries;  ///< parts()+1 positions from 0 to extent, in split order; empty: by the rules
  std::vector<ShardingRule> rules = {};  ///< rule of each of mesh_dims; empty: chunk for all
  std::int64_t block = 0;                ///< block size of cyclic
  /// Gives the indices that the dim has of a longer one, to which cyclic or head_tail applies; an
  /// empty interval if it is a dim of its own.
  Interval slice = {};
  std::int64_t whole = 0;  ///< extent of the longer dim; 0 if there is none

  /// Returns whether the dim is a slice of a longer one.
  bool is_slice() const { return whole > 0; }
  /// Returns the split of the longer dim of which this one is a slice.
  DimSplit unsliced() const;
  /// Returns the number of parts, the product of `sizes`.
  int parts() const;
  /// Returns the rule of the k-th of mesh_dims.
  ShardingRule rule(std::size_t k) const { return rules.empty() ? ShardingRule::chunk : rules[k]; }
  /// Returns whether each part is one interval, and parts follow one another: always by chunk,
  /// balanced and boundaries, and by the other rules where no part has two blocks or chunks.
  bool has_intervals() const;
  /// Returns what a coordinate (one number per mesh dim of the mesh) holds; the empty interval at
  /// `extent` if that is nothing.
  Sections sections(std::span<const int> coordinate) const;
  /// Returns the number, in split order, of the part that a coordinate holds.
  int number(std::span<const int> coordinate) const;
  /// Returns the part with this number, in split order.
  Sections part(int index) const;
  /// Returns the coordinate of part `index` on the k-th of mesh_dims.
  int coordinate(int index, std::size_t k) const;
  /// Returns the interval that a coordinate holds; [extent, extent) if it is empty. Expects
  /// has_intervals().
  Interval interval(std::span<const int> coordinate) const;
  /// Returns the number of indices that a coordinate holds.
  std::int64_t size(std::span<const int> coordinate) const;
  /// Returns the size of the largest part.
  std::int64_t largest_part() const;
  /// Returns the boundaries, computed if there are none. Expects has_intervals().
  std::vector<std::int64_t> explicit_boundaries() const;

  friend bool operator==(const DimSplit&, const DimSplit&) = default;
};

/// Describes one part of a split: its number in split order, and what it holds.
struct Part {
  int index;
  Sections sections;
};

/// Returns the parts that share an index with `range`, in split order. If fixed[mesh_dim] ≥ 0, only
/// this coordinate is admitted along the mesh dim. O(result) for chunk, balanced and boundaries.
std::vector<Part> parts_meeting(const DimSplit& split, Interval range, std::span<const int> fixed);

/// Returns whether two splits of one mesh give each coordinate the same sections. O(1) where the
/// first parts differ or the rules tell; otherwise it looks at all coordinates of their mesh dims
/// at most.
bool agree(const DimSplit& a, const DimSplit& b);

}  // namespace tessera
