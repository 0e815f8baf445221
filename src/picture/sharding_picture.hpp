// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "picture/piece_grid.hpp"
#include "picture/svg.hpp"

namespace tessera::detail {

/// Draws text from (x, y) downwards, in lines about as wide as `width`; returns their height.
double draw_paragraph(Svg& svg, std::string_view text, double x, double y, double width,
                      const TextStyle& style);

/// Draws one slice, with ranges of indices along the edges, into the width of `area`; returns the
/// height taken.
double draw_slice(Svg& svg, const PieceGrid& grid, const Slice& slice, const Rect& area);

/// Says what draw_slice() leaves out, along rows and along columns; "" if nothing.
std::vector<std::string> parts_left_out(const PieceGrid& grid);

/// Draws who holds what, without a title, into the width of `area` from its upper edge downwards;
/// returns the height taken.
///
/// Errors: InvalidArgument if `slice` is no index along the leading dims.
double draw_sharding(Svg& svg, const PieceGrid& grid, const Rect& area,
                     const std::vector<std::int64_t>& slice);

/// Draws what the hatches of these pictures mean, from (x, y) downwards; returns the height taken.
double draw_hatch_legend(Svg& svg, double x, double y, bool has_replicas, bool has_contributions);

}  // namespace tessera::detail
