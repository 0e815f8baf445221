// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "debug/traffic.hpp"
#include "picture/svg.hpp"

namespace tessera::detail {

/// Draws a matrix of bytes, totals at its right and lower edge, upwards no wider than `area`;
/// returns the place taken. `names`: of the blocks.
Rect draw_matrix(Svg& svg, const PhaseTraffic& traffic, const RankBlocks& blocks,
                 const std::vector<std::string>& names, const Rect& area);

}  // namespace tessera::detail
