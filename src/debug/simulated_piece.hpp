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

/// What one rank of a simulation holds, row-major.
struct SimulatedPiece {
  Box box;
  std::vector<std::int64_t> values;

  static SimulatedPiece filled(const Box& box, std::int64_t value);
  /// Where the element at a global index lies in `values`.
  std::size_t position(const Extents& index) const;
};

/// In an element that nothing was written to.
inline constexpr std::int64_t not_written = INT64_MIN;

/// The piece of a rank whose terms, where the spec has Partials, reduce to the global index.
/// Divisions of averages leave no rest, in whatever order mesh dims are reduced.
SimulatedPiece source_piece(const DTensorSpec& spec, int mesh_rank);

struct Comparison {
  std::int64_t elements = 0;
  std::string mistake = {};  ///< the first one; empty: right
};

/// Compares what ranks hold, by mesh rank, with the global index.
Comparison compared(const DTensorSpec& spec, std::span<const SimulatedPiece> pieces);

/// Calls visit(index) with the global index at which each row of a box begins: `row_size(box)`
/// elements that follow one another.
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
