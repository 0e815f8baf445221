// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/comm/detail/clock.hpp>
#include <tessera/comm/detail/control.hpp>
#include <tessera/comm/detail/device_memory.hpp>
#include <tessera/comm/detail/environment.hpp>
#include <tessera/comm/detail/message_pieces.hpp>
#include <tessera/comm/detail/open_messages.hpp>
#include <tessera/comm/detail/staging.hpp>
#include <tessera/comm/detail/state.hpp>
#include <tessera/error/error.hpp>

namespace tessera::detail {
namespace {

constexpr auto operation = "tessera::Communicator::duplicate_of";
constexpr auto variable = "TESSERA_MESSAGE_PIECES";
/// Longer messages gain little, or lose where their memory lies in huge pages.
constexpr std::int64_t longest_tried = 32 << 10;
/// What is sent at once piles up at a receiver that is late, and MPI goes through all of it to find
/// a message.
constexpr std::int64_t longest_allowed = 64 << 10;
/// As little as this may be chance.
constexpr double least_gain = 0.1;

/// Seconds of some exchanges: the least in one way, the most in the other, so that pieces are not
/// chosen by what was in the way of one of them.
struct Times {
  double whole = std::numeric_limits<double>::infinity();
  double in_pieces = 0;
};

/// Seconds of exchanges in which every rank sends so much to the one half-way round.
double seconds_of_exchanges(const Group& group, std::int64_t bytes) {
  constexpr int exchanges = 8;
  const int n = group.size();
  const int next = group.rank_at(n / 2);
  const int previous = group.rank_at(-n / 2);
  auto memory = std::make_shared<std::vector<std::byte>>(2 * bytes);
  const auto exchange_all = [&] {
    Exchange exchange(group.communicator, TraceKind::metadata, operation, n);
    for (int i = 0; i < exchanges; ++i) {
      exchange.receive(memory->data() + bytes, bytes, previous);
      exchange.send(memory->data(), bytes, next);
      exchange.wait();
    }
    exchange.finish();
  };
  const double start = seconds();
  keeping(group.communicator, exchange_all, [&] { return memory; });
  return seconds() - start;
}

bool are_pieces_faster(const Group& group, std::int64_t bytes) {
  constexpr int repetitions = 4;
  auto& longest = group.communicator.state().longest_in_pieces;
  Times mine;
  for (int i = 0; i < repetitions; ++i) {
    longest = 0;
    mine.whole = std::min(mine.whole, seconds_of_exchanges(group, bytes));
    longest = bytes;
    mine.in_pieces = std::max(mine.in_pieces, seconds_of_exchanges(group, bytes));
  }
  longest = 0;
  Times all{0, 0};
  for (const auto& times : all_gather_value(group, mine, TraceKind::metadata, operation)) {
    all.whole += times.whole;
    all.in_pieces += times.in_pieces;
  }
  return all.in_pieces < (1 - least_gain) * all.whole;
}

}  // namespace

void learn_pieces(const Communicator& communicator) {
  auto& state = communicator.state();
  const auto group = all_ranks(communicator);
  const auto text = variable_of_first(group, variable);
  if (!text.empty()) {
    const auto bytes = parse_bytes(variable, text);
    require(bytes <= longest_allowed, [&] {
      return fmt::format("{}: expected at most {}, got {}", variable, longest_allowed, bytes);
    });
    state.longest_in_pieces = bytes;
    return;
  }
  const bool has_messages = state.node_map.nodes() > 1 || state.smallest_slot == 0;
  if (state.size == 1 || !has_messages) return;
  // Where ranks share a core, times say little; nor do they of a device's memory. Nodes and builds
  // may differ.
  const bool may_lie_on_device =
      device_kind() != DeviceKind::none && state.staging == Staging::nothing;
  const int is_in_vain = state.control->is_oversubscribed || may_lie_on_device ? 1 : 0;
  const auto are_in_vain = all_gather_value(group, is_in_vain, TraceKind::metadata, operation);
  if (std::ranges::find(are_in_vain, 1) != are_in_vain.end()) return;
  std::int64_t longest = 0;
  for (auto bytes = 2 * message_piece_bytes; bytes <= longest_tried; bytes *= 2) {
    if (!are_pieces_faster(group, bytes)) break;
    longest = bytes;
  }
  state.longest_in_pieces = longest;
}

}  // namespace tessera::detail
