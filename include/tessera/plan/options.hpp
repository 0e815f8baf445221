// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/extents/extents.hpp>

namespace tessera {

/// Holds the costs by which plans are compared, for the busiest rank. calibrate() measures them.
///
/// Data from another node costs more than data from the same node: for each message, and for each
/// byte that all ranks of a node together receive from other nodes.
struct CostModel {
  double seconds_per_message = 1e-6;             ///< cost of a message within a node
  double seconds_per_byte = 1.0 / 4e9;           ///< cost of a byte that a rank receives
  double seconds_per_reduced_byte = 0.25 / 4e9;  ///< cost of a byte of reduction operands
  double seconds_per_inter_node_message = 2e-6;  ///< cost of a message from another node
  double seconds_per_node_byte = 1.0 / 12.5e9;   ///< cost of a byte that a node receives

  friend constexpr bool operator==(const CostModel&, const CostModel&) = default;
};

/// Describes how a plan is made by make_plan(). All ranks pass equal values. redistribute() and
/// similar calls take everything but extra_memory from the mesh.
struct PlanOptions {
  /// Limits the memory of a rank for messages, bytes, besides source and destination, see
  /// RedistributeOptions::extra_memory.
  std::int64_t extra_memory = 0;
  /// Gives the costs of the planner, such as the result of calibrate().
  CostModel cost_model = {};
  /// Says how the mesh lies on nodes, see DeviceMesh::ranks_per_node(); empty if all of it lies on
  /// one node or this is not known. A plan to another mesh does not use it. Where it saves time,
  /// what several ranks of a node need is sent to the node once, and many small messages between
  /// nodes are combined into few large ones.
  Extents ranks_per_node = {};

  friend constexpr bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

}  // namespace tessera
