// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For picture: the bytes that travel between ranks in each phase of a plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/plan/plan.hpp>

namespace tessera::detail {

/// Ranks of a plan in blocks that follow one another; one rank each where there are few.
struct RankBlocks {
  int ranks = 0;
  int count = 0;

  bool are_single() const { return count == ranks; }
  /// Of 0 ≤ rank < ranks.
  int block_of(int rank) const;
  int first(int block) const;
  int size(int block) const { return first(block + 1) - first(block); }
};

RankBlocks rank_blocks(int ranks);

/// Bytes that travel in one phase of a step.
struct PhaseTraffic {
  StepKind kind;
  int step;
  int phase;
  int terms;
  bool communicates;                ///< the step does
  std::vector<std::int64_t> bytes;  ///< by block of senders and block of receivers, row-major
  std::vector<std::int64_t> stays;  ///< by block: from ranks to themselves
  double messages = 0;
  std::int64_t most_received = 0;  ///< by one rank
};

struct Traffic {
  std::vector<PhaseTraffic> phases = {};  ///< in order
  int ranks_asked = 0;                    ///< for their steps; they stand for all others
};

/// Asks all ranks where that is not too much work, else some of each block.
Traffic traffic_of(const RedistributePlan& plan, const RankBlocks& blocks);

/// "96", "1.5k", "23M": decimal, at most four characters below 10^15.
std::string short_number(std::int64_t number);

}  // namespace tessera::detail
