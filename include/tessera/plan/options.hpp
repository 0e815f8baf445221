// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/extents/extents.hpp>

namespace tessera {

/// WireOrder says in which order the elements of a block follow one another while they travel.
enum class WireOrder : std::uint8_t { last_dim_fastest, first_dim_fastest };

/// Holds the costs by which plans are compared, for the busiest rank. calibrate() measures them.
///
/// Data from another node costs more than data from the same node: for each message, and for each
/// byte that all ranks of a node together receive from other nodes.
struct CostModel {
  double seconds_per_message = 1e-6;             ///< cost of a message within a node
  double seconds_per_byte = 1.0 / 4e9;           ///< cost of a byte that a rank receives
  double seconds_per_reduced_byte = 0.25 / 4e9;  ///< cost of a byte of reduction operands
  double seconds_per_far_message = 2e-6;         ///< cost of a message from another node
  double seconds_per_node_byte = 1.0 / 12.5e9;   ///< cost of a byte that a node receives

  friend constexpr bool operator==(const CostModel&, const CostModel&) = default;
};

/// Describes how a redistribution may be done. All ranks pass equal values, unless a field says
/// otherwise.
struct RedistributeOptions {
  /// Sets the order in which elements travel. The order in which both Views are laid out is
  /// fastest. Between LayoutLeft Views redistribute() takes first_dim_fastest, whatever is set
  /// here.
  WireOrder wire_order = WireOrder::last_dim_fastest;
  /// Limits the memory of a rank for messages, bytes, besides source and destination. The
  /// intermediate results of a path of several exchanges may take as much again. Data that does not
  /// fit is sent when earlier messages are complete. 0 means 64 MiB and an eighth of the largest
  /// shard. From Partial to another mesh the reduced shares lie between the two exchanges, whatever
  /// the limit is. Memory for messages comes in huge pages if it is 64 KiB or more: up to 4 MiB for
  /// each use (sending, receiving, contributions, intermediate results) come on top, for each mesh,
  /// bound Redistributor and pending call.
  std::int64_t extra_memory = 0;
  /// Gives the costs of the planner. The default means the result of calibrate(), if that was
  /// called on the mesh.
  CostModel cost_model = {};
  /// Says how the mesh lies on nodes, see DeviceMesh::ranks_per_node(); empty if all of it lies on
  /// one node or this is not known. If it is empty, redistribute() and similar calls take it from
  /// the mesh. A plan to another mesh does not use it. Where it saves time, what several ranks of a
  /// node need is sent to the node once, and many small messages between nodes are combined into
  /// few large ones.
  Extents ranks_per_node = {};
  /// States that all local pieces of source and target lie in device memory: between the ranks of a
  /// node, blocks then take the device path, see TESSERA_DEVICE_PATH. redistribute() and similar
  /// calls set it from their Views, whatever is set here. A bound plan also runs with Views
  /// elsewhere, only slower.
  bool on_device = false;
  /// Gives up the values of the source: where shapes allow, the result of redistribute() takes the
  /// source's memory (all-reduces, and local pieces that stay as they are). May differ between
  /// ranks.
  bool donate_source = false;

  friend constexpr bool operator==(const RedistributeOptions&,
                                   const RedistributeOptions&) = default;
};

}  // namespace tessera
