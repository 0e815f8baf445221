// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "placement/wide_sum.hpp"
#include "plan/movement.hpp"
#include "plan/order.hpp"
#include "plan/partial_tree.hpp"
#include "plan/tuning.hpp"

namespace tessera::detail {
namespace {

/// Returns the largest power of two such that two chunks of operands for all parts of a piece fit
/// into `most_at_once` messages.
int operands_at_once(int most_at_once, int parts) {
  return static_cast<int>(
      std::bit_floor(static_cast<unsigned>(std::max(1, most_at_once / 2 / parts))));
}

/// Returns the number of buffers for the operands of one part: two chunks of what arrives, one
/// chunk that is moved to the memory space of the result, and partial results, which are wide sums
/// in an average.
std::int64_t operand_buffers(const Transfer& transfer, ElementType type, int at_once) {
  const std::int64_t awaited = transfer.contributions() - (keeps_own(transfer) ? 1 : 0);
  if (!come_in_groups(awaited, transfer.contributions(), at_once)) return 3 * awaited;
  const int slots = PartialTree::slots(groups_of(transfer.contributions(), at_once));
  const int width = partial_type(type, transfer.divisor).size / type.size;
  // The slots count twice: ranks that await fewer operands may take them as one group.
  return 3 * std::int64_t{at_once} + 2 * std::int64_t{slots} * width;
}

}  // namespace

MessageSizes message_sizes(double limit, ElementType type, int peers, const Transfer* reduction) {
  constexpr double most_memory = 1e18;
  MessageSizes sizes;
  sizes.limit = static_cast<std::int64_t>(std::min(limit, most_memory));
  const std::int64_t element = type.size;
  const auto possible_at_once =
      static_cast<int>(std::clamp<std::int64_t>(sizes.limit / (2 * element), 1, most_at_once));
  sizes.at_once = std::min(possible_at_once, std::max(peers, fewest_at_once));
  const int parts = reduction == nullptr ? 0 : most_parts(*reduction);
  sizes.operands_at_once = operands_at_once(possible_at_once, std::max(1, parts));
  const auto operands =
      parts > 0 ? parts * operand_buffers(*reduction, type, sizes.operands_at_once) : 0;
  sizes.buffers = sizes.at_once + std::max<std::int64_t>(sizes.at_once, operands);
  sizes.bytes = std::max(element, std::min(most_message_bytes, sizes.limit / (sizes.buffers + 1)));
  return sizes;
}

}  // namespace tessera::detail
