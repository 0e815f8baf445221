// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For debug: the steps of a plan without their blocks.
#pragma once

#include <vector>

#include "plan/plan_data.hpp"

namespace tessera::detail {

/// Lists the mesh dims that are Partial before or after, by what happens along them. Both lists
/// ascend.
struct PartialDims {
  std::vector<int> reduced;  ///< Partial before, not the same Partial after
  std::vector<int> made;     ///< Partial after, not the same Partial before
};

PartialDims partial_dims(const Placements& source, const Placements& target);

/// Holds the steps to a target, and what remains to do there.
struct PlannedPath {
  std::vector<PlannedStep> steps;
  std::vector<int>
      made;  ///< mesh dims of the target along which what arrives still has to be made Partial
};

/// Returns the cheapest path from `source` to `target` on its mesh, by the cost model of the options. Along
/// mesh dims of one rank all placements mean the same: nothing is done there.
///
/// Candidates are one direct exchange; one exchange for each mesh dim if peers are many and
/// messages tiny; on several nodes the paths of node_grid.hpp. From Partial, contributions are
/// reduced where they are needed, or in shares that are gathered afterwards. `nodes` is null if the
/// mesh lies on one node.
PlannedPath planned_path(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                         const PlanSettings& options, const NodeGrid* nodes);

/// Returns the path to `target` on another mesh.
PlannedPath planned_path_across(const DTensorSpec& source, const DTensorSpec& target,
                                const PlanSettings& options);

/// Returns the memory that a rank may use besides its pieces, bytes. `largest_piece`: size of the
/// largest piece of any rank, bytes. The second overload finds it from the specs.
double memory_limit(double largest_piece, const PlanSettings& options);
double memory_limit(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                    const PlanSettings& options);

}  // namespace tessera::detail
