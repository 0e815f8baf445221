// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/busiest_rank.hpp"
#include "plan/specs.hpp"
#include "plan/transfer_cost.hpp"
#include "plan/tuning.hpp"

namespace tessera::detail {
namespace {

/// Holds what a rank receives from other nodes, and the number of messages that it receives from
/// them or sends to them, whichever is larger.
struct InterNodeCost {
  double elements = 0;
  double messages = 0;
};

InterNodeCost inter_node_cost(const Transfer& transfer, int rank, const NodeGrid& nodes) {
  InterNodeCost cost;
  const auto coordinate = transfer.from.layout().coordinate(rank);
  for (const auto& block : blocks_to_receive(transfer, coordinate)) {
    if (nodes.are_on_one_node(rank, block.peer)) continue;
    cost.elements += static_cast<double>(block.size());
    ++cost.messages;
  }
  double sent = 0;
  for (const auto& block : blocks_to_send(transfer, coordinate))
    if (!nodes.are_on_one_node(rank, block.peer)) ++sent;
  cost.messages = std::max(cost.messages, sent);
  return cost;
}

/// Adds what the node of this rank receives from other nodes.
void add_node(const Transfer& transfer, ElementType type, int rank, int peers,
              const NodeGrid& nodes, TransferCost& cost) {
  const auto ranks = nodes.ranks_on_node(rank);
  const auto counted =
      std::clamp<std::size_t>(static_cast<std::size_t>(most_blocks / peers), 1, ranks.size());
  double bytes = 0;
  for (std::size_t i = 0; i < counted; ++i) {
    const auto part = inter_node_cost(transfer, ranks[i * ranks.size() / counted], nodes);
    const double bytes_of_rank = part.elements * static_cast<double>(type.size);
    bytes += bytes_of_rank;
    cost.inter_node_bytes = std::max(cost.inter_node_bytes, bytes_of_rank);
    cost.inter_node_messages = std::max(cost.inter_node_messages, part.messages);
  }
  cost.node_bytes = std::max(
      cost.node_bytes, bytes * static_cast<double>(ranks.size()) / static_cast<double>(counted));
}

double seconds_of_one(const TransferCost& cost, const CostModel& model) {
  return (cost.intra_node_bytes + cost.inter_node_bytes) * model.seconds_per_byte +
         cost.node_bytes * model.seconds_per_node_byte +
         cost.reduced_bytes * model.seconds_per_reduced_byte +
         cost.intra_node_messages * model.seconds_per_message +
         cost.inter_node_messages * model.seconds_per_inter_node_message;
}

}  // namespace

namespace {

TransferCost exact_cost(const Transfer& transfer, ElementType type) {
  const auto busiest = busiest_rank(transfer);
  const double size = type.size;
  TransferCost cost;
  cost.intra_node_bytes = static_cast<double>(busiest.received) * size;
  if (!transfer.reduced_dims.empty())
    cost.reduced_bytes = static_cast<double>(busiest.fetched) * size;
  cost.intra_node_messages = static_cast<double>(busiest.messages);
  cost.sent_bytes =
      largest_piece_bytes(transfer.from, type) * static_cast<double>(copies(transfer));
  return cost;
}

}  // namespace

TransferCost cost_of(const Transfer& transfer, ElementType type, const NodeGrid* nodes) {
  if (nodes == nullptr && can_look_at_each_rank(transfer)) return exact_cost(transfer, type);
  TransferCost cost;
  const double bytes = largest_piece_bytes(transfer.to, type);
  const bool reduces = !transfer.reduced_dims.empty();
  const int contributions = transfer.contributions();
  const bool has_own_contribution = reduces && keeps_own(transfer);
  cost.intra_node_bytes = bytes * (reduces ? contributions - (has_own_contribution ? 1 : 0) : 1);
  cost.reduced_bytes = reduces ? bytes * contributions : 0;
  cost.sent_bytes =
      largest_piece_bytes(transfer.from, type) * static_cast<double>(copies(transfer));
  const int self = transfer.is_on_one_mesh() && !reduces ? 1 : 0;
  const int peers = most_peers(transfer);
  cost.intra_node_messages = has_own_contribution ? contributions - 1 : peers - self;
  if (nodes == nullptr) return cost;
  auto middle = transfer.from.layout().shape();
  for (auto& coordinate : middle) coordinate /= 2;
  for (const int rank : {0, transfer.from.layout().mesh_rank(middle)})
    add_node(transfer, type, rank, peers, *nodes, cost);
  cost.intra_node_bytes = std::max(0.0, cost.intra_node_bytes - cost.inter_node_bytes);
  cost.intra_node_messages = std::max(0.0, cost.intra_node_messages - cost.inter_node_messages);
  return cost;
}

double seconds_of(std::span<const TransferCost> costs, std::size_t steps, const CostModel& model) {
  double seconds = static_cast<double>(steps) * messages_per_transfer * model.seconds_per_message;
  for (const auto& cost : costs) seconds += seconds_of_one(cost, model);
  return seconds;
}

}  // namespace tessera::detail
