// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Describes our distributions to COSTA.
#pragma once

#include <cstddef>
#include <vector>

#include <costa/layout.hpp>

#include <tessera/extents/box.hpp>

namespace tessera::perf {

using CostaLayout = costa::grid_layout<double>;

/// Returns the positions where pieces begin and end along a dim.
inline std::vector<int> boundaries_of(const std::vector<Box>& pieces, std::size_t dim) {
  std::vector<int> result = {0};
  for (const auto& piece : pieces)
    if (!piece.is_empty() && piece.interval(dim).end > result.back())
      result.push_back(static_cast<int>(piece.interval(dim).end));
  return result;
}

/// Returns COSTA's layout of a row-major matrix of which each rank has one piece, of rows or of columns,
/// or the whole. `data` holds the piece of rank `self`.
inline CostaLayout costa_layout(const std::vector<Box>& pieces, std::size_t self, double* data) {
  const auto rows = boundaries_of(pieces, 0);
  const auto columns = boundaries_of(pieces, 1);
  std::vector<int> owners;
  std::vector<costa::block_t> mine;
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    if (pieces[rank].is_empty()) continue;
    const auto part = static_cast<int>(owners.size());
    owners.push_back(static_cast<int>(rank));
    if (rank == self)
      mine.push_back({data, static_cast<int>(pieces[rank].shape[1]), rows.size() > 2 ? part : 0,
                      columns.size() > 2 ? part : 0});
  }
  return costa::custom_layout<double>(
      static_cast<int>(rows.size()) - 1, static_cast<int>(columns.size()) - 1, rows.data(),
      columns.data(), owners.data(), static_cast<int>(mine.size()), mine.data(), 'R');
}

}  // namespace tessera::perf
