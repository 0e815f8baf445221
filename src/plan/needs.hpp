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
  Box box;  ///< global indices; modulo the extents of the tensor, so that it may reach beyond
  Extents position;  ///< index of its first element in the array of the rank
};

/// Holds what one rank needs: boxes that may overlap, also each other on other ranks, wrap around,
/// and leave parts of the tensor out. No two of them have a place in the rank's array in common.
using Needs = std::vector<Need>;

/// Describes how ranks get what they need of a tensor, as data: one exchange, of which this is the
/// step of one rank. Its phase has no destination.
struct NeedsPlan {
  Movement movement;
  Step step;
};

/// Plans how every rank of the spec's mesh gets what it needs: from itself what it owns, and the
/// rest from the rank that owns it among those with its own coordinates along mesh dims that do not
/// shard the tensor. `needs` has one entry per mesh rank. Local; O(ranks + blocks) time.
///
/// Expects a spec without Partial, and boxes without indices where the tensor has none.
NeedsPlan plan_to_needs(const DTensorSpec& source, std::span<const Needs> needs, int mesh_rank,
                        ElementType type, const PlanSettings& settings);

}  // namespace tessera::detail
