// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: the order in which a rank meets its peers.
#pragma once

namespace tessera::detail {

/// How many ranks `to` is above `from`, round the mesh. Sends start with the next higher rank,
/// receives with the next lower one, so that not all begin with the same peer.
constexpr int distance(int from, int to, int ranks) {
  return (to - from + ranks) % ranks;
}

/// Groups into which so many terms are divided.
constexpr int groups_of(int terms, int at_once) {
  return (terms + at_once - 1) / at_once;
}

/// Of many terms, a rank first receives those of the group that its own term is in, then those of the
/// group before it, and so on round all groups: so all groups send at the same time. In which turn
/// those of `group` come; given a turn, the group.
constexpr int turn_of(int group, int own_group, int groups) {
  return distance(group, own_group, groups);
}

}  // namespace tessera::detail
