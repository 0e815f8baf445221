// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <tessera/extents/element_type.hpp>
#include <tessera/plan/detail/transfer.hpp>
#include <tessera/plan/options.hpp>

#include "plan/node_grid.hpp"

namespace tessera::detail {

/// Holds the cost of one transfer: what the busiest rank receives. The numbers are exact on one
/// node of few ranks; otherwise they are upper bounds, except that the part from other nodes is
/// counted on some ranks of two nodes.
struct TransferCost {
  double intra_node_bytes = 0;
  double inter_node_bytes = 0;
  double node_bytes = 0;     ///< bytes that all ranks of one node receive from other nodes
  double reduced_bytes = 0;  ///< operand bytes read by reductions
  double intra_node_messages = 0;
  double inter_node_messages = 0;
  double sent_bytes = 0;

  /// Returns the bytes of all messages at once, and of operands that are moved to another memory
  /// space.
  double bytes_under_way() const {
    return sent_bytes + intra_node_bytes + inter_node_bytes + reduced_bytes;
  }
};

/// Returns the cost of a transfer. `nodes` is null if the mesh lies on one node.
TransferCost cost_of(const Transfer& transfer, ElementType type, const NodeGrid* nodes);

/// Returns the predicted seconds of transfers one after another in this number of steps, each of
/// which has the cost of beginning it.
double seconds_of(std::span<const TransferCost> costs, std::size_t steps, const CostModel& model);

}  // namespace tessera::detail
