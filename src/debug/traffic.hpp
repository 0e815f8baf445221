// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For picture: the bytes that travel between ranks in each phase of a plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/plan/plan.hpp>

namespace tessera::detail {

/// Divides the ranks of a plan into blocks of consecutive ranks; if there are few ranks, each is a
/// block.
struct RankBlocks {
  int ranks = 0;
  int count = 0;

  bool are_single() const { return count == ranks; }
  /// Returns the block that holds `rank`. Expects 0 ≤ rank < ranks.
  int block_of(int rank) const;
  int first(int block) const;
  int size(int block) const { return first(block + 1) - first(block); }
};

RankBlocks rank_blocks(int ranks);

/// Counts the bytes that travel in one phase of a step.
struct PhaseTraffic {
  StepKind kind;
  int step;
  int phase;
  int contributions;
  bool communicates;                ///< true if the step communicates
  std::vector<std::int64_t> bytes;  ///< indexed by sending block and receiving block, row-major
  std::vector<std::int64_t> stays;  ///< bytes from ranks to themselves, indexed by block
  double messages = 0;
  std::int64_t most_received = 0;  ///< largest number of bytes that an asked rank receives
};

struct Traffic {
  std::vector<PhaseTraffic> phases = {};  ///< all phases of the plan, in order
  int ranks_asked = 0;  ///< ranks asked for their steps; they stand for all others
};

/// Computes the traffic of a plan. Asks all ranks for their steps or, if that is too much work,
/// some ranks of each block.
Traffic traffic_of(const RedistributePlan& plan, const RankBlocks& blocks);

/// Formats a number with decimal prefixes: "96", "1.5k", "23M". Numbers below 10^15 take at most
/// four characters.
std::string short_number(std::int64_t number);

}  // namespace tessera::detail
