// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of pictures: limits of the size of their files. A constant
// that decides only how a picture looks stands where it is drawn.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
#pragma once

#include <cstddef>

namespace tessera::detail {

/// Largest number of shards in a drawing of one 2-D slice, where both dims have many.
///
/// Each shard is a rectangle with a tooltip in the file. Not measured on its own; judgement. Shown
/// by: no row; a test asserts that all of 32 × 32 shards are drawn, and 63 × 63 of 1,000 × 100.
inline constexpr std::size_t most_cells = 4096;

/// Largest number of shards that are drawn along one dim of a 2-D slice.
///
/// More of them cannot be told apart in a picture of 900 pixels. Not measured on its own;
/// judgement. Shown by: no row.
inline constexpr std::size_t most_parts_seen = 1200;

/// Number of shards along one dim that are drawn in any case, however many the other dim has.
///
/// Its square must not exceed `most_cells`. Not measured on its own; judgement. Shown by: no row.
inline constexpr std::size_t parts_always_shown = 64;

}  // namespace tessera::detail
