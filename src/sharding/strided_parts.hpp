// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For tensor, engine and io: products of runs as strided arrays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/extents/extents.hpp>
#include <tessera/sharding/sections.hpp>

namespace tessera::detail {

/// Describes elements that lie regularly on two sides: at the offset of a side plus index times
/// strides.
struct StridedPart {
  struct Side {
    std::int64_t offset = 0;
    Extents strides;
  };

  Extents extents;
  Side from;
  Side to;
};

/// Returns the product of one list of runs per tensor dim as strided parts. from_strides[d] and
/// to_strides[d] say how far apart neighbouring indices of dim d lie on either side, in any unit.
///
/// Blocks that come again make a dim of their own, outside the dim of their indices unless they
/// have one index; a shorter last block makes a part of its own. Where a part had more than 8 dims,
/// each of the outermost blocks makes a part. The parts, their order and extents depend on extents
/// and blocks of the runs alone.
std::vector<StridedPart> strided_parts(std::span<const std::vector<IndexRun>* const> runs,
                                       const Extents& from_strides, const Extents& to_strides);

/// Returns the sections as runs from local indices to global ones.
std::vector<IndexRun> runs_of(const Sections& sections);

/// Returns a piece as strided parts: from its local array to the global array of `to_strides`.
std::vector<StridedPart> strided_parts(const Piece& piece, const Extents& from_strides,
                                       const Extents& to_strides);

}  // namespace tessera::detail
