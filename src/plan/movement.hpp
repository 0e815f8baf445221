// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine, redistribute, debug and picture: what ranks know of a plan besides its steps.
#pragma once

#include <cstdint>
#include <optional>

#include <tessera/extents/element_type.hpp>
#include <tessera/placement/placement.hpp>
#include <tessera/plan/detail/settings.hpp>
#include <tessera/plan/plan.hpp>

namespace tessera::detail {

/// Says how long messages are, and how many are under way at once, so that their memory respects
/// PlanOptions::extra_memory.
struct MessageSizes {
  /// Gives the largest length of a message, bytes. Longer messages travel in chunks. If no ranks
  /// share a window, reduction operands of more than 256 KiB travel in chunks, too. One chunk
  /// travels while the next one is packed.
  std::int64_t bytes;
  /// Gives the largest number of messages of this length that a rank sends at once. It receives as
  /// many, and reduction operands besides. Shorter messages may be more.
  int at_once;
  /// Gives the number of reduction operands of a block that are received concurrently, if there are
  /// many, and those of two chunks at once. It is a power of two, so that each group is a branch of
  /// the fixed tree, whose result waits for the other branches.
  int operands_at_once;
  std::int64_t buffers;  ///< messages for which a rank may have memory at once
  std::int64_t limit;    ///< memory of all these messages, bytes
};

/// Holds what ranks know of a plan while they execute it, besides their steps. It is equal on every
/// rank.
struct Movement {
  ElementType type;
  PlanSettings settings;
  ReduceOp op = ReduceOp::sum;  ///< combines contributions in reduce steps; sum for avg, too
  std::int64_t divisor = 1;     ///< divides the results of reduce steps: avg
  std::optional<PartialTarget> partial_target = {};
  MessageSizes messages = {};
};

/// Returns the message sizes of transfers in which a rank has at most `peers` peers, itself
/// included, for a limit in bytes. `reduction` is the transfer that reduces; null if none does.
MessageSizes message_sizes(double limit, ElementType type, int peers, const Transfer* reduction);

}  // namespace tessera::detail
