// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For debug: the steps of a plan without their blocks.
#pragma once

#include <vector>

#include "plan/plan_data.hpp"

namespace tessera::detail {

/// What happens along the mesh dims that are Partial before or after. All lists ascend.
struct PartialDims {
  std::vector<int> reduced;     ///< Partial before, not the same Partial after
  std::vector<int> made;        ///< Partial after, not the same Partial before
  std::vector<int> first_only;  ///< of `made`: only coordinate 0 holds the value
};

PartialDims partial_dims(const Placements& source, const Placements& target);

/// The distribution that data must reach: the target, but along new Partial mesh dims that were
/// sharded each rank keeps its share.
DTensorSpec reached(const DTensorSpec& source, const DTensorSpec& target, const PartialDims& dims);

/// The cheapest way from `source` to `goal`, see reached(), by the cost model of the options.
///
/// Candidates: one direct exchange; one for each mesh dim where peers are many and messages tiny;
/// on several nodes the ways of node_grid.hpp. With Partials, terms reduced where they are needed,
/// or in shares that are gathered afterwards. `nodes`: null where the mesh is on one.
std::vector<PlannedStep> planned_steps(const DTensorSpec& source, const DTensorSpec& goal,
                                       const PartialDims& dims, ElementType type,
                                       const RedistributeOptions& options, const NodeGrid* nodes);

/// The way to `target` on another mesh, and what remains to do there.
struct WayAcross {
  std::vector<PlannedStep> steps;
  std::vector<int> made;  ///< mesh dims of the target that are Partial
};
WayAcross way_across(const DTensorSpec& source, const DTensorSpec& target,
                     const RedistributeOptions& options);

/// Bytes that a rank may need besides source and target.
double memory_limit(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                    const RedistributeOptions& options);

}  // namespace tessera::detail
