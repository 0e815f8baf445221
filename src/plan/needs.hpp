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

/// Returns the needs of a rank that asks for `box` and puts it into an array of its shape: several,
/// none of which has an index twice, where the box is longer than the tensor. Indices are taken modulo
/// the extents.
Needs needs_of(const Box& box, const Extents& shape);

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

/// Describes how patches reach the owners of their elements, as data: one exchange, of which this is
/// the step of one rank, and what remains to be done after it. Sides are those of the patch (from)
/// and of the local piece (to).
struct PatchesPlan {
  Movement movement;
  Step step;          ///< patches of other ranks arrive packed
  Blocks own;         ///< what this rank has of its own piece
  std::int64_t size;  ///< number of elements that arrive
};

/// Plans how patches of all ranks reach the ranks that own their elements, in all replicas: the way
/// back of plan_to_needs(). Only mesh dims that shard the tensor decide who owns an element. Local.
///
/// Expects a spec without Partial, no element of an empty tensor, and needs that each have no index
/// twice.
PatchesPlan plan_patches(const DTensorSpec& spec, std::span<const Needs> needs, int mesh_rank,
                         ElementType type, const PlanSettings& settings);

}  // namespace tessera::detail
