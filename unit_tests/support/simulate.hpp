// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <tessera/redistribute/detail/execute.hpp>

namespace tessera::test {

/// Carries the messages of one phase between the ranks of this process. Throws if one has no
/// counterpart.
inline void deliver(const std::vector<detail::PhaseRun>& runs) {
  std::size_t sent = 0;
  std::size_t received = 0;
  for (const auto& run : runs) sent += run.outgoing().size();
  for (std::size_t rank = 0; rank < runs.size(); ++rank) {
    for (const auto& incoming : runs[rank].incoming()) {
      const auto& outgoing = runs[static_cast<std::size_t>(incoming.peer)].outgoing();
      const auto match =
          std::ranges::find(outgoing, static_cast<int>(rank), &detail::Message::peer);
      if (match == outgoing.end() || match->bytes != incoming.bytes)
        throw std::logic_error("a message to receive has no counterpart");
      std::memcpy(incoming.data, match->data, static_cast<std::size_t>(incoming.bytes));
      ++received;
    }
  }
  if (sent != received) throw std::logic_error("a message to send has no counterpart");
}

/// Runs a plan with all its ranks in this process: pieces by mesh rank. No MPI.
inline void simulate(const RedistributePlan& plan, const std::vector<ArrayRef>& sources,
                     const std::vector<ArrayRef>& destinations) {
  const auto ranks = sources.size();
  const Execution execution;
  std::vector<std::vector<Step>> steps;
  std::vector<detail::Scratch> scratch(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    steps.push_back(plan.steps(static_cast<int>(rank)));
    detail::prepare_destination(execution, plan, destinations[rank]);
  }
  auto current = sources;
  for (std::size_t s = 0; s < steps.front().size(); ++s) {
    for (std::size_t p = 0; p < steps.front()[s].phases.size(); ++p) {
      const bool is_last = s + 1 == steps.front().size() && p + 1 == steps.front()[s].phases.size();
      std::vector<detail::PhaseRun> runs;
      auto next = destinations;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto& step = steps[rank][s];
        if (!is_last)
          next[rank] =
              detail::intermediate_array(step.phases[p], destinations[rank], scratch[rank]);
        runs.emplace_back(plan, step, step.phases[p], static_cast<int>(rank), current[rank],
                          next[rank], scratch[rank]);
        runs.back().pack(execution);
      }
      deliver(runs);
      for (const auto& run : runs) {
        run.copy_own(execution);
        run.unpack(execution);
      }
      current = next;
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank)
    detail::complete_destination(execution, plan, steps[rank], destinations[rank]);
}

}  // namespace tessera::test
