// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <tessera/extents/element_type.hpp>
#include <tessera/plan/detail/hop.hpp>
#include <tessera/plan/options.hpp>

#include "plan/node_grid.hpp"

namespace tessera::detail {

/// What the busiest rank receives in one hop: upper bounds, of which the part from other nodes is
/// that of some ranks of two nodes.
struct HopLoad {
  double near_bytes = 0;
  double far_bytes = 0;
  double node_bytes = 0;     ///< from other nodes, of all ranks of one
  double reduced_bytes = 0;  ///< of operands
  double near_messages = 0;
  double far_messages = 0;
  double sent_bytes = 0;

  /// Of messages, all at once: also of terms that are moved to another memory space.
  double bytes_under_way() const { return sent_bytes + near_bytes + far_bytes + reduced_bytes; }
};

/// `nodes`: null where the mesh is on one.
HopLoad load_of(const Hop& hop, ElementType type, const NodeGrid* nodes);

/// Of hops one after another, with what it takes to begin each.
double seconds_of(std::span<const HopLoad> loads, const CostModel& model);

}  // namespace tessera::detail
