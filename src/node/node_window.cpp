// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>

#include "comm/communicator_state.hpp"
#include "comm/environment.hpp"
#include "node/node_window.hpp"
#include "node/nodes.hpp"

namespace tessera::detail {
namespace {

constexpr std::int64_t largest_window_slot_bytes = 512 << 10;

/// What the first rank of a node tells the others.
struct WindowOffer {
  std::array<char, 64> name{};
  std::int64_t slot_bytes = 0;
};

/// Bytes per rank where nothing is said. Ranks that share a core share its caches too.
std::int64_t default_section_bytes(const CommunicatorState& state) {
  return (state.control->is_oversubscribed ? 2 : 4) << 20;
}

/// Of the shared memory that is left at most a quarter in all: MPI needs some too.
std::int64_t at_most_available(std::int64_t section_bytes, std::size_t ranks) {
  return std::min(section_bytes, free_shared_memory() / 4 / static_cast<std::int64_t>(ranks));
}

/// The memory of the window as this rank has mapped it, its own section reserved.
SharedMemory map_section(SharedMemory made, const std::string& name, const WindowShape& shape,
                         int position) {
  auto memory = made.name().empty() ? SharedMemory::open(name, shape.bytes()) : std::move(made);
  if (memory.data() != nullptr)
    memory.reserve(position * shape.section_bytes(), shape.section_bytes());
  return memory;
}

/// By node, the least of what its ranks have.
std::vector<std::int64_t> least_of_nodes(const NodeMap& map, const std::vector<std::int64_t>& all) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(map.nodes()),
                                   std::numeric_limits<std::int64_t>::max());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    auto& least = result[static_cast<std::size_t>(map.node[rank])];
    least = std::min(least, all[rank]);
  }
  return result;
}

}  // namespace

void make_window(const Communicator& communicator) {
  const auto& state = communicator.state();
  auto& node = *state.node;
  const auto group = all_ranks(communicator);
  constexpr auto variable = "TESSERA_WINDOW";
  const auto text = variable_of_first(group, variable);
  const auto wanted_bytes =
      text.empty() ? default_section_bytes(state) : parse_bytes(variable, text);
  if (wanted_bytes == 0 || node.map.nodes() == state.size) return;

  const auto node_of = [&](int rank) {
    return static_cast<std::size_t>(node.map.node[static_cast<std::size_t>(rank)]);
  };
  const auto node_ranks = node.map.peers(state.rank);
  const int position = node.map.position(state.rank);
  const int ranks = static_cast<int>(node_ranks.size());
  SharedMemory made;
  WindowOffer offer;
  if (position == 0) {
    const auto bytes =
        text.empty() ? at_most_available(wanted_bytes, node_ranks.size()) : wanted_bytes;
    const auto offered = WindowShape::fitting(ranks, bytes, largest_window_slot_bytes);
    offer.slot_bytes = offered.slot_bytes;
    if (offered.slot_bytes > 0) made = SharedMemory::make(offered.bytes());
    made.name().copy(offer.name.data(), offer.name.size() - 1);
  }
  const auto offers = all_gather_value(group, offer, TraceKind::metadata, setup_operation);
  const auto& first = offers[static_cast<std::size_t>(node_ranks.front())];
  const WindowShape shape{ranks, first.slot_bytes};
  SharedMemory memory;
  if (shape.slot_bytes > 0)
    memory = map_section(std::move(made), first.name.data(), shape, position);

  const bool is_mapped = memory.data() != nullptr && memory.error().empty();
  const auto slots = all_gather_value(group, is_mapped ? shape.slot_bytes : 0, TraceKind::metadata,
                                      setup_operation);
  memory.unlink();
  if (!is_mapped && node_ranks.size() > 1)
    log(LogLevel::warning, "comm", [&] {
      return fmt::format(
          "no window for the {} ranks of this node, {} bytes per rank wanted: {}; they exchange "
          "messages",
          node_ranks.size(), wanted_bytes,
          memory.error().empty() ? "too few bytes" : memory.error());
    });
  const auto slot_of_node = least_of_nodes(node.map, slots);
  for (const auto slot : slot_of_node)
    if (slot > 0 && (node.smallest_slot == 0 || slot < node.smallest_slot))
      node.smallest_slot = slot;
  if (slot_of_node[node_of(state.rank)] == 0) return;
  node.window = std::make_shared<MappedWindow>(std::move(memory), shape, position);
  node.lanes.assign(static_cast<std::size_t>(state.size), -1);
  for (std::size_t p = 0; p < node_ranks.size(); ++p)
    node.lanes[static_cast<std::size_t>(node_ranks[p])] = static_cast<int>(p);
}

}  // namespace tessera::detail
