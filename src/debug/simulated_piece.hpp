// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// Holds the elements of one simulated rank, row-major.
struct SimulatedPiece {
  Box box;
  std::vector<std::int64_t> values;

  static SimulatedPiece filled(const Box& box, std::int64_t value);
  /// Returns the position in `values` of the element at a global index.
  std::size_t position(const Extents& index) const;
};

/// Marks an element that nothing was written to.
inline constexpr std::int64_t not_written = INT64_MIN;

/// Returns the source piece of a rank. Each element is its flat global index or, if the spec is
/// Partial, a contribution to it. Averages divide without remainder, in whatever order mesh dims
/// are reduced.
SimulatedPiece source_piece(const DTensorSpec& spec, int mesh_rank);

struct Comparison {
  std::int64_t elements = 0;
  std::string mistake = {};  ///< first mistake found; empty if there is none
};

/// Compares pieces, indexed by mesh rank, with `spec`: each piece must have its box, and each
/// element, reduced if `spec` is Partial, must be its flat global index (for avg, times the
/// divisor).
Comparison compared(const DTensorSpec& spec, std::span<const SimulatedPiece> pieces);

/// Calls visit(index) for each row of a box, with the global index at which the row begins. A row
/// has `row_size(box)` consecutive elements.
template <class Visit>
void for_each_row(const Box& box, const Visit& visit) {
  if (box.is_empty()) return;
  auto index = box.offset;
  const auto outer = box.shape.empty() ? 0 : box.shape.size() - 1;
  const auto choose = [&](const auto& self, std::size_t d) -> void {
    if (d == outer) return visit(index);
    for (index[d] = box.offset[d]; index[d] < box.offset[d] + box.shape[d]; ++index[d])
      self(self, d + 1);
  };
  choose(choose, 0);
}

inline std::size_t row_size(const Box& box) {
  return box.shape.empty() ? 1 : static_cast<std::size_t>(box.shape[box.shape.size() - 1]);
}

}  // namespace tessera::detail
