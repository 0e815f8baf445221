// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include <tessera/comm/detail/cores.hpp>
#include <tessera/error/error.hpp>

#include "comm/communicator_state.hpp"
#include "comm/environment.hpp"
#include "mpi/check.hpp"
#include "node/node_map.hpp"
#include "node/nodes.hpp"

namespace tessera {
namespace {

struct WorldRank {
  int rank = 0;
  int size = 0;
};

WorldRank world_rank() {
  WorldRank result;
  detail::check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &result.rank), "MPI_Comm_rank");
  detail::check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &result.size), "MPI_Comm_size");
  return result;
}

NodeMap overridden_node_map(const Group& group, std::string_view text) {
  const auto all =
      all_gather_value(group, world_rank(), TraceKind::metadata, detail::setup_operation);
  std::vector<int> world_ranks;
  int world_size = 0;
  for (const auto& [rank, size] : all) {
    world_ranks.push_back(rank);
    world_size = std::max(world_size, size);
  }
  return detail::parse_node_map(text, world_ranks, world_size);
}

std::vector<int> parse_numbers(std::string_view text) {
  std::vector<int> result;
  const char* next = text.data();
  const char* end = next + text.size();
  for (;;) {
    const auto [stop, error] = std::from_chars(next, end, result.emplace_back());
    if (error != std::errc() || result.back() < 0) return {};
    if (stop == end) return result;
    if (*stop != ',') return {};
    next = stop + 1;
  }
}

}  // namespace

int NodeMap::nodes() const {
  return node.empty() ? 0 : 1 + *std::max_element(node.begin(), node.end());
}

std::vector<int> NodeMap::peers(int rank) const {
  std::vector<int> result;
  for (std::size_t r = 0; r < node.size(); ++r)
    if (node[r] == node[static_cast<std::size_t>(rank)]) result.push_back(static_cast<int>(r));
  return result;
}

int NodeMap::position(int rank) const {
  const auto end = node.begin() + rank;
  return static_cast<int>(std::count(node.begin(), end, *end));
}

namespace detail {

NodeMap node_map_of(std::span<const int> labels) {
  std::map<int, int> number_of;
  NodeMap result;
  for (const int label : labels)
    result.node.push_back(
        number_of.emplace(label, static_cast<int>(number_of.size())).first->second);
  return result;
}

NodeMap parse_node_map(std::string_view text, std::span<const int> world_ranks, int world_size) {
  if (text == "each") return node_map_of(world_ranks);
  const auto numbers = parse_numbers(text);
  require(!numbers.empty() && numbers.size() >= static_cast<std::size_t>(world_size), [&] {
    return fmt::format(
        "TESSERA_NODES: expected `each` or a node number for each of the {} ranks of "
        "MPI_COMM_WORLD, such as 0,0,1,1, got \"{}\"",
        world_size, text);
  });
  std::vector<int> labels;
  for (const int rank : world_ranks) labels.push_back(numbers[static_cast<std::size_t>(rank)]);
  return node_map_of(labels);
}

void detect_nodes(const Communicator& communicator) {
  auto& state = communicator.state();
  auto& node = *state.node;
  const auto group = all_ranks(communicator);
  const auto hardware = probe_shared_hardware(group);
  state.control->is_oversubscribed = hardware.ranks > hardware.cores;
  note_cores_per_rank(std::max(1, hardware.cores / hardware.ranks));
  node.machine_rank = hardware.node_map.position(state.rank);
  const auto text = variable_of_first(group, "TESSERA_NODES");
  node.map = text.empty() ? hardware.node_map : overridden_node_map(group, text);
}

}  // namespace detail
}  // namespace tessera
