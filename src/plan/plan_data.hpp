// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <tessera/plan/plan.hpp>

#include "plan/mesh_pair.hpp"
#include "plan/movement.hpp"
#include "plan/node_grid.hpp"

namespace tessera {
namespace detail {

struct PlannedStep {
  StepKind kind;
  bool communicates;
  std::vector<Transfer> transfers;
};

}  // namespace detail

struct RedistributePlan::Data {
  DTensorSpec source;
  DTensorSpec target;
  detail::Movement movement;
  std::vector<detail::PlannedStep> steps = {};
  std::shared_ptr<const detail::MeshPair> pair = {};   ///< null: one mesh
  std::shared_ptr<const detail::NodeGrid> nodes = {};  ///< null: one node, or two meshes
  std::uint64_t hash;
};

}  // namespace tessera
