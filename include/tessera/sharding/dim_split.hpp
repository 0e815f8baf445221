// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/extents/box.hpp>

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

/// Describes how one tensor dim is split: by which mesh dims, in split order, and where.
struct DimSplit {
  std::int64_t extent = 0;
  std::vector<int> mesh_dims;
  std::vector<int> sizes;  ///< number of ranks along each of mesh_dims
  std::vector<std::int64_t>
      boundaries;  ///< parts()+1 positions from 0 to extent, in split order; empty: the chunk rule

  /// Returns the number of parts, the product of `sizes`.
  int parts() const;
  /// Returns the interval that a coordinate (one number per mesh dim of the mesh) holds; [extent,
  /// extent) if it is empty.
  Interval interval(std::span<const int> coordinate) const;
  /// Returns the size of the largest part.
  std::int64_t largest_part() const;
  /// Returns the boundaries, computed if the chunk rule holds.
  std::vector<std::int64_t> explicit_boundaries() const;

  friend bool operator==(const DimSplit&, const DimSplit&) = default;
};

/// Describes one part of a split: its coordinate on each splitting mesh dim (in split order) and
/// its interval.
struct Part {
  std::vector<int> coordinate;
  Interval interval;
};

/// Returns the parts that share an element with `range`, in split order. If fixed[mesh_dim] ≥ 0,
/// only this coordinate is admitted along the mesh dim. O(result).
std::vector<Part> parts_meeting(const DimSplit& split, Interval range, std::span<const int> fixed);

}  // namespace tessera
