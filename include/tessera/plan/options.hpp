// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/extents/extents.hpp>

namespace tessera {

/// In which order the elements of a block follow one another on their way.
enum class WireOrder : std::uint8_t { last_dim_fastest, first_dim_fastest };

/// What plans are compared by, for the busiest rank. calibrate() measures it.
///
/// What comes from another node costs more than what comes from the same one: for each message, and
/// for each byte that all ranks of a node together receive from others.
struct CostModel {
  double seconds_per_message = 1e-6;
  double seconds_per_byte = 1.0 / 4e9;           ///< received
  double seconds_per_reduced_byte = 0.25 / 4e9;  ///< of operands
  double seconds_per_far_message = 2e-6;         ///< from another node
  double seconds_per_node_byte = 1.0 / 12.5e9;   ///< from other nodes, of all ranks of one

  friend constexpr bool operator==(const CostModel&, const CostModel&) = default;
};

/// How a redistribution may be done. The same on every rank, unless said otherwise.
struct RedistributeOptions {
  /// Fastest if the Views are laid out alike. Between LayoutLeft Views redistribute() takes
  /// first_dim_fastest whatever is said here.
  WireOrder wire_order = WireOrder::last_dim_fastest;
  /// Most bytes that a rank may need for messages besides source and destination, and as many for
  /// what lies between several exchanges; what does not fit is sent in turns. 0: 64 MiB and an
  /// eighth of the largest piece. From Partial to another mesh the reduced shares lie between,
  /// whatever is said here. Memory for messages comes in huge pages where it is 64 KiB or more: up
  /// to 4 MiB for each use (sending, receiving, terms, pieces between exchanges) come on top, of
  /// each mesh, bound Redistributor and pending call.
  std::int64_t extra_memory = 0;
  /// By default that of calibrate(), if it was called on the mesh.
  CostModel cost_model = {};
  /// How the mesh lies on nodes, see DeviceMesh::ranks_per_node(); empty: all of it on one, or not
  /// known. For redistribute() and the like the mesh says it; to another mesh it does not count.
  /// Where it pays, what several ranks of a node need comes to it once, and many small messages
  /// between nodes travel as few large ones.
  Extents ranks_per_node = {};
  /// All pieces of source and target lie in device memory: blocks take its way between the ranks of
  /// a node, see TESSERA_DEVICE_PATH. redistribute() and the like set it by their Views, whatever is
  /// said here. A bound plan runs with Views elsewhere, too, only slower.
  bool on_device = false;
  /// The values of the source are not needed any more: where shapes allow, the result of
  /// redistribute() has the source's memory (all-reduces, and pieces that stay as they are). May
  /// differ between ranks.
  bool donate_source = false;

  friend constexpr bool operator==(const RedistributeOptions&,
                                   const RedistributeOptions&) = default;
};

}  // namespace tessera
