// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "debug/traffic.hpp"
#include "picture/svg.hpp"

namespace tessera::detail {

/// Draws a matrix of bytes, with totals at its right and lower edges, from the upper left corner of
/// `area`; returns the rectangle taken. Entries shrink to 8 pixels so that the matrix fits the
/// width of `area`. `names` are those of the blocks.
Rect draw_matrix(Svg& svg, const PhaseTraffic& traffic, const RankBlocks& blocks,
                 const std::vector<std::string>& names, const Rect& area);

}  // namespace tessera::detail
