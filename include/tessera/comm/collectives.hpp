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

/// An ordered list of ranks of a communicator, and the caller's position in it. The list must
/// outlive the group.
struct Group {
  Communicator communicator;
  std::span<const int> ranks;
  /// -1 where the caller is not in the list.
  int position;

  int size() const { return static_cast<int>(ranks.size()); }
  /// The rank so many positions after the caller's, round and round; before it, if negative.
  int rank_at(int distance) const {
    const int n = size();
    return ranks[static_cast<std::size_t>((position + distance % n + n) % n)];
  }
};

/// All ranks of the communicator, in its order. Its list lives as long as the communicator's
/// handle.
Group all_ranks(const Communicator& communicator);

/// Collectives on bytes among the ranks of a group, by point-to-point messages on the library's
/// duplicate: no communicator is made. Every rank of the group calls them in the same order.
/// `operation` has static storage and names the caller in trace events: one event per call with
/// what was really sent, none for a group of one rank.

/// Everyone's bytes, by position. All give the same number of bytes.
std::vector<std::byte> all_gather(const Group& group, std::span<const std::byte> mine,
                                  TraceKind kind, const char* operation);

/// Everyone's bytes, by position; sizes may differ.
std::vector<std::vector<std::byte>> all_gather_v(const Group& group,
                                                 std::span<const std::byte> mine, TraceKind kind,
                                                 const char* operation);

/// The bytes of position `root`, on every rank; `data` has the same size everywhere and is
/// overwritten elsewhere.
void broadcast(const Group& group, std::span<std::byte> data, int root, TraceKind kind,
               const char* operation);

/// Returns when all have called it.
void barrier(const Group& group, TraceKind kind, const char* operation);

/// all_gather of one value of a trivially copyable type.
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
