// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "comm/communicator_state.hpp"
#include "mpi/check.hpp"
#include "node/description.hpp"
#include "node/nodes.hpp"

namespace tessera::detail {

/// Returns the first line of the library's version text.
std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  std::string line(text.data(), static_cast<std::size_t>(length));
  line.resize(std::min(line.size(), line.find_first_of("\n\r")));
  for (auto& c : line)
    if (c == '\t') c = ' ';
  return line;
}

namespace {

const char* thread_level() {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  switch (level) {
    case MPI_THREAD_FUNNELED:
      return "funneled";
    case MPI_THREAD_SERIALIZED:
      return "serialized";
    case MPI_THREAD_MULTIPLE:
      return "multiple";
    default:
      return "single";
  }
}

std::string window_of(const NodeState& node) {
  if (!node.window) return "no window";
  const auto& shape = node.window->shared.window.shape();
  return fmt::format("window of {} KiB per rank, chunks of at most {} KiB",
                     shape.section_bytes() >> 10, shape.slot_bytes >> 10);
}

const char* path_of_device_memory(Staging staging) {
  switch (staging) {
    case Staging::nothing:
      return "device memory goes to MPI directly";
    case Staging::all_memory:
      return "all memory goes to MPI through the library's own";
    default:
      return "device memory goes to MPI through pinned host memory";
  }
}

/// Returns the line about device memory between ranks of a node; "" if it goes through host memory.
std::string path_on_node(const CommunicatorState& state) {
  constexpr auto line = "  device memory on a node: {}\n";
  if (state.device_path == DevicePath::mpi) return fmt::format(line, "in messages");
  if (state.device_path == DevicePath::stage) return "";
  return fmt::format(
      line, fmt::format("through slots of {} KiB ({})", state.node->smallest_device_slot >> 10,
                        device_sharing_name()));
}

const char* name_of(Agreement level) {
  switch (level) {
    case Agreement::none:
      return "none";
    case Agreement::always:
      return "always";
    default:
      return "plan";
  }
}

}  // namespace

std::string description(const Communicator& communicator) {
  const auto& state = communicator.state();
  const auto& node = nodes_of(communicator);
  const auto& options = state.control->options;
  return fmt::format(
      "  MPI: {}, thread level {}\n"
      "  nodes: {} for {} ranks, {} of them on this one; {}{}\n"
      "  messages: {} ({})\n"
      "{}"
      "  agreement: {}, timeout {} s, patience {} s\n",
      mpi_library(), thread_level(), node.map.nodes(), state.size,
      node.map.peers(state.rank).size(), window_of(node),
      state.control->is_oversubscribed ? "; more ranks than cores" : "",
      path_of_device_memory(state.staging), state.staging_source, path_on_node(state),
      name_of(options.level), options.timeout, options.patience);
}

}  // namespace tessera::detail
