// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include <tessera/comm/collectives.hpp>
#include <tessera/comm/detail/keep_for_messages.hpp>

#include "comm/communicator_state.hpp"
#include "comm/exchange.hpp"

namespace tessera {
namespace {

using Offsets = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

/// Gathers blocks by Bruck's algorithm: ceil(log2 n) rounds, each of which doubles the number of
/// blocks that a rank has. `blocks` begins with the caller's own block; after it comes room for
/// those of the positions after the caller's, up to offsets[n].
void bruck(Exchange& exchange, const Group& group, std::byte* blocks, const Offsets& offsets) {
  const auto bytes = [&](int begin, int end) { return offsets[end] - offsets[begin]; };
  const int n = group.size();
  for (int have = 1; have < n; have += std::min(have, n - have)) {
    const int more = std::min(have, n - have);
    exchange.receive(blocks + offsets[have], bytes(have, have + more), group.rank_at(have));
    exchange.send(blocks, bytes(0, more), group.rank_at(-have));
    exchange.wait();
  }
}

// The messages of the functions below read and write `blocks`. It belongs to the caller, because it
// must outlive the exchange if an exception passes. gather_equal leaves it in order of position.

void gather_equal(Exchange& exchange, const Group& group, std::span<const std::byte> mine,
                  Bytes& blocks) {
  const auto n = static_cast<std::size_t>(group.size());
  blocks.resize(n * mine.size());
  std::ranges::copy(mine, blocks.begin());
  Offsets offsets(n + 1);
  for (std::size_t i = 0; i <= n; ++i) offsets[i] = static_cast<std::int64_t>(i * mine.size());
  bruck(exchange, group, blocks.data(), offsets);
  const auto first = (n - static_cast<std::size_t>(group.position)) % n * mine.size();
  std::rotate(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(first), blocks.end());
}

std::vector<std::int64_t> gather_sizes(Exchange& exchange, const Group& group, std::size_t mine,
                                       Bytes& blocks) {
  const auto size = static_cast<std::int64_t>(mine);
  gather_equal(exchange, group, std::as_bytes(std::span(&size, 1)), blocks);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(group.size()));
  std::memcpy(sizes.data(), blocks.data(), blocks.size());
  return sizes;
}

std::vector<Bytes> gather_unequal(Exchange& exchange, const Group& group,
                                  std::span<const std::byte> mine, Bytes& blocks) {
  const auto sizes = gather_sizes(exchange, group, mine.size(), blocks);
  const auto n = sizes.size();
  const auto position_of = [&](std::size_t i) {
    return (static_cast<std::size_t>(group.position) + i) % n;
  };
  Offsets offsets{0};
  for (std::size_t i = 0; i < n; ++i) offsets.push_back(offsets[i] + sizes[position_of(i)]);
  blocks.resize(static_cast<std::size_t>(offsets.back()));
  std::ranges::copy(mine, blocks.begin());
  bruck(exchange, group, blocks.data(), offsets);
  std::vector<Bytes> result(n);
  for (std::size_t i = 0; i < n; ++i)
    result[position_of(i)].assign(blocks.begin() + offsets[i], blocks.begin() + offsets[i + 1]);
  return result;
}

/// Broadcasts along a binomial tree over the distance from the root: a rank receives from the rank
/// whose distance is its own without the lowest set bit, then sends at each lower bit.
void binomial(Exchange& exchange, const Group& group, std::span<std::byte> data, int root) {
  const int n = group.size();
  const int distance = (group.position - root + n) % n;
  const auto bytes = static_cast<std::int64_t>(data.size());
  int bit = 1;
  while (bit < n && !(distance & bit)) bit *= 2;
  if (distance != 0) {
    exchange.receive(data.data(), bytes, group.rank_at(-bit));
    exchange.wait();
  }
  for (bit /= 2; bit > 0; bit /= 2)
    if (distance + bit < n) exchange.send(data.data(), bytes, group.rank_at(bit));
}

/// Runs algorithm(exchange), whose messages read and write `bytes`, and finishes the exchange.
template <class Algorithm>
void run(const Group& group, TraceKind kind, const char* operation, Bytes& bytes,
         const Algorithm& algorithm) {
  const auto exchange_all = [&] {
    Exchange exchange(group.communicator, kind, operation, group.size());
    algorithm(exchange);
    exchange.finish();
  };
  detail::keeping(group.communicator, exchange_all,
                  [&] { return std::make_shared<Bytes>(std::move(bytes)); });
}

/// Waits for all ranks by dissemination. `tokens` holds a byte to send and one to receive.
void dissemination(Exchange& exchange, const Group& group, Bytes& tokens) {
  for (int distance = 1; distance < group.size(); distance *= 2) {
    exchange.receive(&tokens[1], 1, group.rank_at(-distance));
    exchange.send(&tokens[0], 1, group.rank_at(distance));
    exchange.wait();
  }
}

}  // namespace

Group all_ranks(const Communicator& communicator) {
  const auto& state = communicator.state();
  return {communicator, state.all_ranks, state.rank};
}

std::vector<std::byte> all_gather(const Group& group, std::span<const std::byte> mine,
                                  TraceKind kind, const char* operation) {
  if (group.size() == 1) return {mine.begin(), mine.end()};
  Bytes blocks;
  run(group, kind, operation, blocks,
      [&](Exchange& exchange) { gather_equal(exchange, group, mine, blocks); });
  return blocks;
}

std::vector<std::vector<std::byte>> all_gather_v(const Group& group,
                                                 std::span<const std::byte> mine, TraceKind kind,
                                                 const char* operation) {
  if (group.size() == 1) return {{mine.begin(), mine.end()}};
  Bytes blocks;
  std::vector<Bytes> result;
  run(group, kind, operation, blocks,
      [&](Exchange& exchange) { result = gather_unequal(exchange, group, mine, blocks); });
  return result;
}

void broadcast(const Group& group, std::span<std::byte> data, int root, TraceKind kind,
               const char* operation) {
  if (group.size() == 1) return;
  Bytes copy(data.begin(), data.end());
  run(group, kind, operation, copy,
      [&](Exchange& exchange) { binomial(exchange, group, copy, root); });
  std::ranges::copy(copy, data.begin());
}

void barrier(const Group& group, TraceKind kind, const char* operation) {
  if (group.size() == 1) return;
  Bytes tokens(2);
  run(group, kind, operation, tokens,
      [&](Exchange& exchange) { dissemination(exchange, group, tokens); });
}

}  // namespace tessera
