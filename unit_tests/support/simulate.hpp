// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/block_array.hpp"
#include "engine/execute.hpp"
#include "generator.hpp"
#include "node/window.hpp"
#include "plan/movement.hpp"

namespace tessera::test {

/// Describes how the ranks of a simulation reach one another: ranks of one node through a window,
/// other ranks by messages.
struct SimulatedNodes {
  std::vector<int> node = {};     ///< node of each rank; empty: each rank has its own
  std::int64_t slot_bytes = 0;    ///< capacity of one slot, bytes
  bool has_device_slots = false;  ///< chunks lie outside the window
  int messages_at_once = 0;       ///< 0: as planned
  int operands_at_once = 0;       ///< 0: as planned
};

/// Draws nodes: each rank has its own, all are on one, or a few have several; slots of few bytes, so
/// that many chunks are needed; few messages and operands at once.
inline SimulatedNodes random_nodes(Generator& generator, int ranks, ElementType type) {
  SimulatedNodes nodes;
  nodes.messages_at_once = draw(generator, 0, 3);
  if (const int power = draw(generator, 0, 4); power < 4) nodes.operands_at_once = 1 << power;
  const int kind = draw(generator, 0, 2);
  if (kind == 0) return nodes;
  nodes.slot_bytes = std::max<std::int64_t>(type.size, 8 * draw(generator, 1, 40));
  nodes.has_device_slots = draw(generator, 0, 1) == 0;
  for (int rank = 0; rank < ranks; ++rank)
    nodes.node.push_back(kind == 1 ? 0 : draw(generator, 0, std::min(ranks - 1, 2)));
  return nodes;
}

/// Runs all ranks of a plan in this process, without MPI or threads: the ranks take turns, and each
/// does what it can.
class Simulation {
 public:
  /// Takes steps and arrays by mesh rank.
  Simulation(const detail::Movement& movement, std::vector<std::vector<Step>> steps,
             const std::vector<ArrayRef>& sources, const std::vector<ArrayRef>& destinations,
             const SimulatedNodes& nodes)
      : movement_(movement),
        nodes_(nodes),
        pieces_(sources),
        destinations_(destinations),
        all_ranks_(sources.size()),
        steps_(std::move(steps)) {
    std::iota(all_ranks_.begin(), all_ranks_.end(), 0);
    if (nodes_.node.empty()) nodes_.node = all_ranks_;
    make_windows();
  }

  /// Runs the plan. Returns the largest number of messages that a rank awaits at the same time.
  int run() {
    const Execution execution;
    const auto ranks = pieces_.size();
    awaited_by_.assign(ranks, 0);
    sent_.resize(ranks);
    awaited_.resize(ranks);
    std::vector<detail::Scratch> scratch(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      detail::prepare_destination(execution, movement_, destinations_[rank]);
    const auto& steps = steps_.front();
    for (detail::PhaseNumber number; number.step < steps.size(); number = number.next(steps))
      run_phase(number, scratch);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      detail::complete_destination(execution, movement_, steps_[rank], destinations_[rank]);
    for (auto& lanes : lanes_)
      if (lanes && !lanes->is_read()) throw std::logic_error("a chunk was not read");
    for (const auto& window : windows_)
      for (const auto& queue : window.queues)
        if (!queue.empty()) throw std::logic_error("a lane was not closed");
    return most_awaited_;
  }

 private:
  void make_windows() {
    std::vector<std::vector<int>> ranks_of_node(pieces_.size());
    for (const int rank : all_ranks_) ranks_of_node[at(nodes_.node[at(rank)])].push_back(rank);
    lane_of_.assign(pieces_.size(), std::vector<int>(pieces_.size(), -1));
    lanes_.resize(pieces_.size());
    slots_of_.resize(pieces_.size());
    for (const auto& ranks : ranks_of_node) {
      if (ranks.size() < 2) continue;
      const detail::WindowShape shape{static_cast<int>(ranks.size()), nodes_.slot_bytes};
      auto& memory = memories_.emplace_back(static_cast<std::size_t>(shape.bytes() + 128));
      auto* const begin =
          memory.data() + 128 - reinterpret_cast<std::uintptr_t>(memory.data()) % 128;
      const auto* const slots = nodes_.has_device_slots ? make_slots(ranks) : nullptr;
      for (std::size_t p = 0; p < ranks.size(); ++p) {
        slots_of_[at(ranks[p])] = slots;
        for (std::size_t q = 0; q < ranks.size(); ++q)
          lane_of_[at(ranks[p])][at(ranks[q])] = static_cast<int>(q);
        auto& window = windows_.emplace_back(detail::Window(begin, shape, static_cast<int>(p)));
        lanes_[at(ranks[p])] = std::make_unique<detail::Lanes>(window, 42, slots);
      }
    }
  }

  const detail::SlotMemory* make_slots(const std::vector<int>& ranks) {
    auto& slots = slots_.emplace_back(detail::SlotMemory{{}, nodes_.slot_bytes});
    const auto section = 2 * (ranks.size() - 1) * static_cast<std::size_t>(nodes_.slot_bytes);
    for (std::size_t p = 0; p < ranks.size(); ++p)
      slots.sections.push_back(memories_.emplace_back(section).data());
    return &slots;
  }

  void run_phase(const detail::PhaseNumber& number, std::vector<detail::Scratch>& scratch) {
    const Execution execution;
    const auto ranks = pieces_.size();
    auto results = destinations_;
    std::vector<detail::PhaseRun> phases(ranks);
    const auto message = movement_.messages.bytes;
    const bool has_window = nodes_.slot_bytes > 0;
    detail::ChunkSizes sizes{
        .window = nodes_.slot_bytes,
        .message = message,
        .term = has_window ? std::min(message, nodes_.slot_bytes)
                           : std::max<std::int64_t>(movement_.type.size, message / 4),
        .messages_at_once =
            nodes_.messages_at_once > 0 ? nodes_.messages_at_once : movement_.messages.at_once,
        .terms_at_once = nodes_.operands_at_once};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const detail::BoundPlan bound{movement_, steps_[rank], pieces_[rank], destinations_[rank]};
      auto& buffer = scratch[rank].intermediate[number.buffer()];
      auto* free =
          buffer.reserve(detail::intermediate_bytes({&bound, 1}, number, static_cast<int>(rank)),
                         destinations_[rank].space);
      results[rank] = detail::result_of_phase(bound, number, static_cast<int>(rank), free);
      auto& phase = phases[rank];
      detail::Peers peers{all_ranks_, lane_of_[rank]};
      peers.slots = slots_of_[rank];
      phase.clear(static_cast<int>(rank), peers, sizes);
      phase.add(movement_, steps_[rank][number.step], number.of(steps_[rank]), pieces_[rank],
                results[rank]);
      detail::for_each_message(number.of(steps_[rank]).send, static_cast<int>(rank),
                               [&](std::span<const Block> message) {
                                 const int lane = lane_of_[rank][at(message.front().peer)];
                                 if (lane >= 0) lanes_[rank]->open(lane);
                               });
      phase.begin(scratch[rank]);
      post(static_cast<int>(rank), phase);
    }
    const auto is_complete = [](const detail::PhaseRun& phase) { return phase.is_complete(); };
    while (!std::ranges::all_of(phases, is_complete)) {
      bool has_moved = false;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        auto& phase = phases[rank];
        if (phase.advance(execution, lanes_[rank].get())) has_moved = true;
        if (phase.copy_own(execution)) has_moved = true;
        if (pass_messages(static_cast<int>(rank), phases)) has_moved = true;
        if (post(static_cast<int>(rank), phase)) has_moved = true;
      }
      if (!has_moved) throw std::logic_error("no rank can go on");
    }
    for (const auto* mail : {&sent_, &awaited_})
      for (const auto& of_receiver : *mail)
        for (const auto& [sender, messages] : of_receiver)
          if (!messages.empty()) throw std::logic_error("a message has no counterpart");
    pieces_ = results;
  }

  /// Posts the messages of a rank. Returns whether there were any.
  bool post(int rank, detail::PhaseRun& phase) {
    const auto messages = phase.post(Execution());
    for (const auto& message : messages) {
      (message.is_sent ? sent_[at(message.peer)][rank] : awaited_[at(rank)][message.peer])
          .push_back(message);
      if (!message.is_sent) most_awaited_ = std::max(most_awaited_, ++awaited_by_[at(rank)]);
    }
    return !messages.empty();
  }

  /// Delivers to this rank the first message from each rank from which it awaits one. A message is
  /// not delivered earlier, so that code which relies on buffered messages fails. Returns whether
  /// any message was delivered.
  bool pass_messages(int rank, std::vector<detail::PhaseRun>& phases) {
    bool has_moved = false;
    for (auto& [sender, receives] : awaited_[at(rank)]) {
      auto& sends = sent_[at(rank)][sender];
      if (receives.empty() || sends.empty()) continue;
      const auto received = receives.front();
      const auto sent = sends.front();
      if (sent.bytes != received.bytes)
        throw std::logic_error("a message has another size than expected");
      std::memcpy(received.data, sent.data, static_cast<std::size_t>(sent.bytes));
      receives.pop_front();
      --awaited_by_[at(rank)];
      sends.pop_front();
      const Execution execution;
      phases[at(sender)].complete(execution, {&sent.id, 1});
      phases[at(rank)].complete(execution, {&received.id, 1});
      has_moved = true;
    }
    return has_moved;
  }

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  const detail::Movement& movement_;
  SimulatedNodes nodes_;
  std::vector<ArrayRef> pieces_;
  std::vector<ArrayRef> destinations_;
  std::vector<int> all_ranks_;
  std::vector<std::vector<Step>> steps_;
  std::vector<std::vector<int>> lane_of_;  // channel, by rank and peer; -1: none
  std::deque<std::vector<std::byte>> memories_;
  std::deque<detail::SlotMemory> slots_;
  std::vector<const detail::SlotMemory*> slots_of_;  // by rank
  std::deque<detail::SharedWindow> windows_;
  std::vector<std::unique_ptr<detail::Lanes>> lanes_;
  /// Holds the messages under way, by receiver and sender.
  using Mail = std::vector<std::map<int, std::deque<detail::Message>>>;
  Mail sent_;
  Mail awaited_;
  std::vector<int> awaited_by_;  // number of messages, by rank
  int most_awaited_ = 0;
};

/// Runs a plan with all its ranks in this process; the pieces are ordered by mesh rank. Throws if
/// the ranks would wait for one another forever, or if a message has no counterpart. Returns the
/// largest number of messages that a rank awaits at the same time.
inline int simulate(const RedistributePlan& plan, const std::vector<ArrayRef>& sources,
                    const std::vector<ArrayRef>& destinations, const SimulatedNodes& nodes = {}) {
  std::vector<std::vector<Step>> steps;
  for (int rank = 0; rank < std::ssize(sources); ++rank) steps.push_back(plan.steps(rank));
  return Simulation(detail::PlanAccess::movement(plan), std::move(steps), sources, destinations,
                    nodes)
      .run();
}

}  // namespace tessera::test
