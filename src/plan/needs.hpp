// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute: plans from a distribution to what ranks need of it.
#pragma once

#include <span>
#include <vector>

#include <tessera/extents/box.hpp>
#include <tessera/plan/plan.hpp>

#include "plan/movement.hpp"

namespace tessera::detail {

/// A Need is a box of a tensor that a rank wants to have, and where it puts it.
struct Need {
  /// Gives global indices. Along each tensor dim they are taken modulo its extent, so that a box
  /// may reach beyond the tensor.
  Box box;
  Extents position;  ///< index of its first element in the array of the rank
};

/// Lists the boxes that one rank needs. They may overlap one another and the boxes of other ranks,
/// wrap around, and leave parts of the tensor out. Their places in the rank's array do not overlap.
using Needs = std::vector<Need>;

/// Describes how ranks get what they need of a tensor, as data: one exchange, of which this is the
/// step of one rank.
struct NeedsPlan {
  Movement movement;
  Step step;
};

/// Plans how every rank of the spec's mesh gets what it needs: from itself what it owns, and the
/// rest from the rank that owns it among those with its own coordinates along mesh dims that do not
/// shard the tensor. `needs` has one entry per mesh rank. Local; takes time in proportion to the
/// needs of all ranks.
///
/// The array of what is needed and the local piece may lie in one memory, as those of a padded array
/// do, if no need is written where the piece is read, except that an element may be where it is.
///
/// Expects a spec without Partial, and no element of an empty tensor.
NeedsPlan plan_to_needs(const DTensorSpec& source, std::span<const Needs> needs, int mesh_rank,
                        ElementType type, const PlanSettings& settings);

}  // namespace tessera::detail
