// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <tessera/debug/simulate.hpp>
#include <tessera/error/error.hpp>

#include "debug/rank_loads.hpp"
#include "debug/simulated_contributions.hpp"
#include "debug/simulated_piece.hpp"
#include "debug/transfers.hpp"
#include "debug/tuning.hpp"
#include "plan/cells.hpp"
#include "plan/mesh_pair.hpp"
#include "plan/movement.hpp"

namespace tessera {
namespace {

using detail::at, detail::BlockEnd, detail::positions, detail::SimulatedPiece;

/// Returns the largest memory of a rank, bytes. Throws InvalidArgument if the plan is too large to
/// be simulated.
std::int64_t checked_peak_bytes(const RedistributePlan& plan) {
  const detail::RankLoads loads(plan);
  double elements = 0;
  double messages = 0;
  std::int64_t peak = 0;
  for (int rank = 0; rank < loads.size(); ++rank) {
    const auto load = loads.of(rank);
    elements += static_cast<double>(load.source_elements + load.target_elements + load.operands);
    messages += static_cast<double>(load.messages_received);
    peak = std::max(peak, load.memory);
  }
  require(elements <= detail::most_elements && messages <= detail::most_messages, [&] {
    return fmt::format(
        "simulate: expected at most {:.0f} elements that ranks hold and combine and {:.0f} "
        "messages, got {:.0f} and {:.0f}",
        detail::most_elements, detail::most_messages, elements, messages);
  });
  return peak;
}

/// Executes a plan on all its ranks, phase by phase.
class Interpreter {
 public:
  explicit Interpreter(const RedistributePlan& plan)
      : plan_(plan), meshes_(plan.source().layout(), plan.target().layout()) {
    for (int rank = 0; rank < std::ssize(plan.ranks()); ++rank) {
      steps_.push_back(plan.steps(rank));
      pieces_.push_back(source_of(rank));
    }
    result_.exchanges = plan.exchanges();
    result_.bytes_received.assign(pieces_.size(), 0);
  }

  Simulation run() && {
    for (std::size_t s = 0; s < steps_.front().size(); ++s)
      for (std::size_t p = 0; p < steps_.front()[s].phases.size() && is_right(); ++p)
        run_phase(s, p);
    if (is_right()) scale_partial_target();
    if (is_right()) compare();
    return std::move(result_);
  }

 private:
  bool is_right() const { return result_.is_right(); }

  bool is_on_one_mesh() const { return plan_.source().layout() == plan_.target().layout(); }

  int mesh_rank_on(const MeshLayout& layout, int rank) const {
    return is_on_one_mesh() ? rank : meshes_.mesh_rank(layout, rank);
  }

  SimulatedPiece source_of(int rank) const {
    const int mesh_rank = mesh_rank_on(plan_.source().layout(), rank);
    if (mesh_rank >= 0) return detail::source_piece(plan_.source(), mesh_rank);
    return SimulatedPiece::filled(meshes_.piece(plan_.source(), rank), detail::not_written);
  }

  void run_phase(std::size_t s, std::size_t p) {
    std::vector<const Phase*> phases;
    for (const auto& steps : steps_) phases.push_back(&steps[s].phases[p]);
    check(phases);
    if (!is_right()) return;
    const bool is_last = s + 1 == steps_.front().size() && p + 1 == steps_.front()[s].phases.size();
    const auto& partial = plan_.partial_target();
    const auto empty = is_last && partial ? detail::identity_of(partial->op) : detail::not_written;
    std::vector<SimulatedPiece> results;
    for (const auto* phase : phases) {
      results.push_back(SimulatedPiece::filled(phase->destination, empty));
      receive(*phase, results.back());
    }
    pieces_ = std::move(results);
  }

  /// Checks that sender and receiver of every block agree on it, and that it lies in the sender's
  /// piece before the phase and in the receiver's piece after it.
  void check(const std::vector<const Phase*>& phases) {
    std::vector<detail::BlockTransfer> sent;
    std::vector<detail::BlockTransfer> received;
    for (int rank = 0; rank < std::ssize(phases); ++rank) {
      const auto& phase = *phases[at(rank)];
      for (const auto& block : phase.send)
        sent.push_back(detail::transfer_of(rank, block.peer, phase.send, block));
      for (const auto& block : phase.receive) {
        check(block, rank, phase);
        if (block.peer == rank) continue;
        received.push_back(detail::transfer_of(block.peer, rank, phase.receive, block));
        result_.bytes_received[at(rank)] += block.size() * plan_.element_type().size;
      }
    }
    result_.messages += std::ssize(received);
    if (is_right())
      result_.mistake = detail::transfer_mistake(std::move(sent), std::move(received));
  }

  void check(const Block& block, int rank, const Phase& phase) {
    if (!is_right()) return;
    const auto& held = pieces_[at(block.peer)].piece;
    if (!lies_in(phase.receive, block, BlockEnd::sender, held))
      result_.mistake = fmt::format(
          "rank {} awaits a block of shape {} that does not lie in what "
          "rank {} holds, {}",
          rank, to_string(block.shape), block.peer, to_string(held));
    if (!lies_in(phase.receive, block, BlockEnd::receiver, phase.destination))
      result_.mistake =
          fmt::format("rank {} awaits a block of shape {}, which does not lie in its piece {}",
                      rank, to_string(block.shape), to_string(phase.destination));
  }

  void receive(const Phase& phase, SimulatedPiece& result) const {
    const auto contributions = at(phase.contributions);
    for (std::size_t i = 0; i < phase.receive.size(); i += contributions) {
      const auto to = positions(phase.receive, phase.receive[i], BlockEnd::receiver, result.piece);
      for (std::size_t k = i; k < i + contributions; ++k)
        combine(phase.receive, phase.receive[k], to, k == i, result.values);
      if (contributions == 1 || detail::PlanAccess::movement(plan_).divisor == 1) continue;
      for (const auto position : to)
        result.values[position] /= detail::PlanAccess::movement(plan_).divisor;
    }
  }

  /// Combines one contribution to a part with the ones before it; the first one is taken as it is.
  void combine(const Blocks& blocks, const Block& block, const std::vector<std::size_t>& to,
               bool is_first, std::vector<std::int64_t>& values) const {
    const auto& sender = pieces_[at(block.peer)];
    const auto from = positions(blocks, block, BlockEnd::sender, sender.piece);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto value = sender.values[from[i]];
      auto& result = values[to[i]];
      result = is_first ? value
                        : detail::combined(detail::PlanAccess::movement(plan_).op, result, value);
    }
  }

  void scale_partial_target() {
    if (!plan_.partial_target() || plan_.partial_target()->scale == 1) return;
    for (std::size_t rank = 0; rank < pieces_.size(); ++rank) {
      const auto& phase = steps_[rank].back().phases.back();
      for (std::size_t i = 0; i < phase.receive.size(); i += at(phase.contributions))
        for (const auto position :
             positions(phase.receive, phase.receive[i], BlockEnd::receiver, pieces_[rank].piece))
          pieces_[rank].values[position] *= plan_.partial_target()->scale;
    }
  }

  void compare() {
    const auto& target = plan_.target();
    std::vector<SimulatedPiece> by_mesh_rank(at(target.layout().size()));
    for (int rank = 0; rank < std::ssize(pieces_); ++rank) {
      const int mesh_rank = mesh_rank_on(target.layout(), rank);
      if (mesh_rank >= 0) by_mesh_rank[at(mesh_rank)] = std::move(pieces_[at(rank)]);
    }
    auto comparison = detail::compared(target, by_mesh_rank);
    result_.elements_checked = comparison.elements;
    result_.mistake = std::move(comparison.mistake);
  }

  const RedistributePlan& plan_;
  detail::MeshPair meshes_;
  std::vector<std::vector<Step>> steps_;
  std::vector<SimulatedPiece> pieces_;
  Simulation result_;
};

}  // namespace

Simulation simulate(const RedistributePlan& plan) {
  const auto peak = checked_peak_bytes(plan);
  auto result = Interpreter(plan).run();
  result.peak_bytes = peak;
  for (const auto bytes : result.bytes_received) result.bytes += bytes;
  return result;
}

}  // namespace tessera
