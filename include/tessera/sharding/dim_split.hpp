// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/extents/box.hpp>

namespace tessera {

/// Part `index` of the range `whole` cut into `parts`: c = ceil(size / parts), part i is [ci,
/// c(i+1)) clipped to the range.
///
/// Example: [0, 10) in 4 parts: [0, 3), [3, 6), [6, 9), [9, 10). Last parts may be short or empty.
/// Source:  chunk rule of torch.chunk.
constexpr Interval chunk(Interval whole, int parts, int index) {
  // Unsigned: the products exceed 63 bits where the size is close to it.
  const auto size = static_cast<std::uint64_t>(whole.size());
  const auto step =
      (size + static_cast<std::uint64_t>(parts) - 1) / static_cast<std::uint64_t>(parts);
  const auto begin = std::min(step * static_cast<std::uint64_t>(index), size);
  const auto end = std::min(begin + step, size);
  return {whole.begin + static_cast<std::int64_t>(begin),
          whole.begin + static_cast<std::int64_t>(end)};
}

/// How one tensor dim is split: by which mesh dims, first split first, and where.
struct DimSplit {
  std::int64_t extent = 0;
  std::vector<int> mesh_dims;
  std::vector<int> sizes;  ///< of these mesh dims
  std::vector<std::int64_t>
      boundaries;  ///< parts()+1 positions from 0 to extent, in split order; empty: the chunk rule

  /// Number of parts: the product of sizes.
  int parts() const;
  /// Where the part of a coordinate (one number per mesh dim of the whole mesh) lies; [extent,
  /// extent) if it is empty.
  Interval interval(std::span<const int> coordinate) const;
  /// Size of the largest part.
  std::int64_t largest_part() const;
  /// The boundaries written out, also for the chunk rule.
  std::vector<std::int64_t> explicit_boundaries() const;

  friend bool operator==(const DimSplit&, const DimSplit&) = default;
};

/// One part of a split: its coordinate on each splitting mesh dim (in split order) and where it
/// lies.
struct Part {
  std::vector<int> coordinate;
  Interval interval;
};

/// Parts that share an element with `range`, in split order. fixed[mesh_dim] ≥ 0 admits that
/// coordinate alone. O(result).
std::vector<Part> parts_meeting(const DimSplit& split, Interval range, std::span<const int> fixed);

}  // namespace tessera
