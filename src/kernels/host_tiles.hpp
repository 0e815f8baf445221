// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/reduction.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {

/// Cuts a reduction on the host into tiles of the innermost loop. A tile is so small that the partial
/// results of the tree, one tile for each of its levels, stay in the first-level cache.
///
/// It shares ownership of the reduction, because a kernel may outlive the call in an asynchronous
/// host backend.
struct HostTiles {
  static constexpr std::int64_t deepest_tree = 33;

  std::shared_ptr<const Reduction> reduction;
  std::int64_t tile;  ///< length of a tile
  Loops loops;

  /// `unit` is the length of a tile if the tree is the deepest one, `parts` the number of them that
  /// are an element.
  HostTiles(const std::shared_ptr<const Reduction>& reduced, std::int64_t unit,
            std::int64_t parts = 1)
      : reduction(reduced),
        tile(units_for(reduction->operands.size()) * unit),
        loops(make_loops(reduction->extents, tile / parts)) {}

  static std::int64_t units_for(std::size_t operands) {
    const auto levels = static_cast<std::int64_t>(std::bit_width(operands));
    return std::min(std::int64_t{most_reduce_tile_units}, deepest_tree / (levels + 1));
  }

  /// Returns where an item begins in an operand. Loops::offset() gives the same address but, for
  /// devices, visits all `max_loops` loops.
  std::byte* begin(const Loops::Item& item, const Operand& operand) const {
    std::int64_t offset = 0;
    for (int d = 0; d < loops.ndims; ++d) offset += item.index[d] * operand.strides[d];
    return operand.data + offset;
  }

  std::int64_t stride(const Operand& operand) const { return operand.strides[loops.ndims - 1]; }
};

}  // namespace tessera::detail
