// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <tessera/comm/communicator.hpp>
#include <tessera/mpi/trace.hpp>

namespace tessera {

/// A Group is an ordered list of ranks of a communicator, with the caller's position in it. The
/// list must outlive the group.
struct Group {
  Communicator communicator;
  std::span<const int> ranks;
  /// Holds the caller's index in `ranks`; -1 if the caller is not in the list.
  int position;

  int size() const { return static_cast<int>(ranks.size()); }
  /// Returns the rank that is `distance` positions after the caller's, cyclically; before it if
  /// `distance` is negative.
  int rank_at(int distance) const {
    const int n = size();
    return ranks[static_cast<std::size_t>((position + distance % n + n) % n)];
  }
};

/// Returns the group of all ranks of the communicator, in its order. The list lives as long as a
/// handle of the communicator.
Group all_ranks(const Communicator& communicator);

/// The functions below are collectives on bytes among the ranks of a group. They use point-to-point
/// messages on the library's duplicate and make no communicator. Every rank of the group calls them
/// in the same order. A call emits one trace event with what was really sent, none if the group has
/// one rank. `operation`, which has static storage, names the caller in it.

/// Returns the bytes of all ranks, one after another by position. All ranks pass the same number of
/// bytes.
std::vector<std::byte> all_gather(const Group& group, std::span<const std::byte> mine,
                                  TraceKind kind, const char* operation);

/// Returns the bytes of each rank, by position. Sizes may differ between ranks.
std::vector<std::vector<std::byte>> all_gather_v(const Group& group,
                                                 std::span<const std::byte> mine, TraceKind kind,
                                                 const char* operation);

/// Copies `data` of position `root` to `data` of all other ranks. `data` has the same size on every
/// rank.
void broadcast(const Group& group, std::span<std::byte> data, int root, TraceKind kind,
               const char* operation);

/// Returns when all ranks of the group have called it.
void barrier(const Group& group, TraceKind kind, const char* operation);

/// Returns the values that all ranks pass, by position. T is trivially copyable.
template <class T>
std::vector<T> all_gather_value(const Group& group, const T& mine, TraceKind kind,
                                const char* operation) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = all_gather(group, std::as_bytes(std::span(&mine, 1)), kind, operation);
  std::vector<T> result(static_cast<std::size_t>(group.size()));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

}  // namespace tessera
