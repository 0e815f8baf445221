// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/hop_load.hpp"
#include "plan/specs.hpp"
#include "plan/tuning.hpp"

namespace tessera::detail {
namespace {

/// Holds what a rank receives from other nodes, and the number of messages that it receives from
/// them or sends to them, whichever is larger.
struct FarLoad {
  double elements = 0;
  double messages = 0;
};

FarLoad far_load(const Hop& hop, int rank, const NodeGrid& nodes) {
  FarLoad load;
  const auto coordinate = hop.from.layout().coordinate(rank);
  for (const auto& block : blocks_to_receive(hop, coordinate)) {
    if (nodes.are_near(rank, block.peer)) continue;
    load.elements += static_cast<double>(block.box.size());
    ++load.messages;
  }
  double sent = 0;
  for (const auto& block : blocks_to_send(hop, coordinate))
    if (!nodes.are_near(rank, block.peer)) ++sent;
  load.messages = std::max(load.messages, sent);
  return load;
}

/// Adds what the node of this rank receives from other nodes.
void add_node(const Hop& hop, ElementType type, int rank, int peers, const NodeGrid& nodes,
              HopLoad& load) {
  const auto ranks = nodes.near_ranks(rank);
  const auto counted =
      std::clamp<std::size_t>(static_cast<std::size_t>(most_blocks / peers), 1, ranks.size());
  double bytes = 0;
  for (std::size_t i = 0; i < counted; ++i) {
    const auto far = far_load(hop, ranks[i * ranks.size() / counted], nodes);
    const double bytes_of_rank = far.elements * static_cast<double>(type.size);
    bytes += bytes_of_rank;
    load.far_bytes = std::max(load.far_bytes, bytes_of_rank);
    load.far_messages = std::max(load.far_messages, far.messages);
  }
  load.node_bytes = std::max(
      load.node_bytes, bytes * static_cast<double>(ranks.size()) / static_cast<double>(counted));
}

double seconds_of_one(const HopLoad& load, const CostModel& model) {
  return (load.near_bytes + load.far_bytes) * model.seconds_per_byte +
         load.node_bytes * model.seconds_per_node_byte +
         load.reduced_bytes * model.seconds_per_reduced_byte +
         load.near_messages * model.seconds_per_message +
         load.far_messages * model.seconds_per_far_message;
}

}  // namespace

HopLoad load_of(const Hop& hop, ElementType type, const NodeGrid* nodes) {
  HopLoad load;
  const double bytes = largest_piece_bytes(hop.to, type);
  const bool reduces = !hop.term_dims.empty();
  const int terms = hop.terms();
  const bool has_own_term = reduces && keeps_own(hop);
  load.near_bytes = bytes * (reduces ? terms - (has_own_term ? 1 : 0) : 1);
  load.reduced_bytes = reduces ? bytes * terms : 0;
  load.sent_bytes = largest_piece_bytes(hop.from, type) * static_cast<double>(copies(hop));
  const int self = hop.is_on_one_mesh() && !reduces ? 1 : 0;
  const int peers = most_peers(hop);
  load.near_messages = has_own_term ? terms - 1 : peers - self;
  if (nodes == nullptr) return load;
  auto middle = hop.from.layout().shape();
  for (auto& coordinate : middle) coordinate /= 2;
  for (const int rank : {0, hop.from.layout().mesh_rank(middle)})
    add_node(hop, type, rank, peers, *nodes, load);
  load.near_bytes = std::max(0.0, load.near_bytes - load.far_bytes);
  load.near_messages = std::max(0.0, load.near_messages - load.far_messages);
  return load;
}

double seconds_of(std::span<const HopLoad> loads, const CostModel& model) {
  double seconds = static_cast<double>(loads.size()) * messages_per_hop * model.seconds_per_message;
  for (const auto& load : loads) seconds += seconds_of_one(load, model);
  return seconds;
}

}  // namespace tessera::detail
