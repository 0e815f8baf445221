// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tessera/plan/plan.hpp>

#include "plan/mesh_pair.hpp"
#include "plan/node_grid.hpp"

namespace tessera {
namespace detail {

struct PlannedStep {
  StepKind kind;
  bool communicates;
  std::vector<Transfer> transfers;
};

struct MessageSizes {
  std::int64_t bytes;    ///< largest length of a message
  int at_once;           ///< messages sent concurrently, and as many received
  int operands_at_once;  ///< operands of a chunk received together: a power of two
  std::int64_t buffers;  ///< messages that may be under way
  std::int64_t limit;    ///< memory of these messages, bytes
};

}  // namespace detail

struct RedistributePlan::Data {
  DTensorSpec source;
  DTensorSpec target;
  ElementType type;
  detail::PlanSettings settings;
  std::optional<PartialTarget> partial_target;
  std::vector<detail::PlannedStep> steps;
  std::shared_ptr<const detail::MeshPair> pair;   ///< null: one mesh
  std::shared_ptr<const detail::NodeGrid> nodes;  ///< null: one node, or two meshes
  detail::MessageSizes messages;
  std::uint64_t hash;
};

}  // namespace tessera
