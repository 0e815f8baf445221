// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <tessera/comm/collectives.hpp>

#include "node/nodes.hpp"

namespace tessera::test {

inline Communicator world() {
  return detail::communicator_on_nodes(MPI_COMM_WORLD);
}

/// Returns a duplicate of MPI_COMM_WORLD, which the caller frees.
inline MPI_Comm duplicate_world() {
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &result);
  return result;
}

/// Returns rank lists over `size` ranks: for each length the first ranks in order, reversed, and
/// rotated by half the length; then the odd ranks; then all ranks, the odd ones first.
inline std::vector<std::vector<int>> rank_lists(int size) {
  std::vector<std::vector<int>> result;
  for (int n = 1; n <= size; ++n) {
    std::vector<int> ranks(static_cast<std::size_t>(n));
    std::iota(ranks.begin(), ranks.end(), 0);
    result.push_back(ranks);
    result.emplace_back(ranks.rbegin(), ranks.rend());
    std::rotate(ranks.begin(), ranks.begin() + n / 2, ranks.end());
    result.push_back(ranks);
  }
  std::vector<int> odd, even;
  for (int rank = 0; rank < size; ++rank) (rank % 2 == 1 ? odd : even).push_back(rank);
  if (!odd.empty()) result.push_back(odd);
  odd.insert(odd.end(), even.begin(), even.end());
  result.push_back(odd);
  return result;
}

/// Returns the group of a rank list; nothing if the caller is not in the list.
inline std::optional<Group> group_of(const Communicator& communicator,
                                     const std::vector<int>& ranks) {
  const auto mine = std::find(ranks.begin(), ranks.end(), communicator.rank());
  if (mine == ranks.end()) return std::nullopt;
  return Group{communicator, ranks, static_cast<int>(mine - ranks.begin())};
}

}  // namespace tessera::test
