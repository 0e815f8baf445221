// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tessera/picture/visualize_sharding.hpp>

#include "picture/piece_grid.hpp"

namespace tessera::detail {

inline constexpr int least_width = 40;  ///< least width of the text, characters
inline constexpr int most_rows = 12;    ///< largest number of rows; the width limits the columns

struct SliceText {
  std::string text;
  int most_columns;  ///< number of columns that fit the width
};

/// Draws one slice, without a heading.
SliceText slice_text(const PieceGrid& grid, const Slice& slice, const VisualizeOptions& options);

/// Returns the text of visualize_sharding().
std::string picture_of(const PieceGrid& grid, const VisualizeOptions& options);

}  // namespace tessera::detail
