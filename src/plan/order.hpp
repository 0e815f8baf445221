// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: the order in which a rank meets its peers.
#pragma once

namespace tessera::detail {

/// Returns how many ranks `to` is above `from`, counted round the mesh. Sends start with the next
/// higher rank, receives with the next lower one, so that not all begin with the same peer.
constexpr int distance(int from, int to, int ranks) {
  return (to - from + ranks) % ranks;
}

/// Returns the number of groups into which the operands are divided, with `at_once` in each.
constexpr int groups_of(int operands, int at_once) {
  return (operands + at_once - 1) / at_once;
}

/// Returns the round in which a rank receives the operands of `group`; given a round, returns the
/// group. If there are many operands, a rank first receives those of the group that its own operand
/// is in, then those of the group before it, and so on round all groups, so that all groups send at
/// the same time.
constexpr int round_of(int group, int own_group, int groups) {
  return distance(group, own_group, groups);
}

}  // namespace tessera::detail
