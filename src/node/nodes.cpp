// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>

#include "comm/communicator_state.hpp"
#include "comm/registry.hpp"
#include "node/description.hpp"
#include "node/nodes.hpp"

namespace tessera::detail {
namespace {

void attach_nodes(const Communicator& communicator) {
  communicator.state().node = std::make_shared<NodeState>();
  detect_nodes(communicator);
  make_window(communicator);
  log(LogLevel::info, "comm", [&] { return "new communicator:\n" + description(communicator); });
}

}  // namespace

Communicator communicator_on_nodes(MPI_Comm user) {
  auto communicator = Communicator::duplicate_of(user);
  if (communicator.state().node) return communicator;
  try {
    attach_nodes(communicator);
  } catch (...) {
    // The next call makes a new duplicate, so that it meets no messages of this one.
    detach(user);
    throw;
  }
  return communicator;
}

NodeState& nodes_of(const Communicator& communicator) {
  const auto& state = communicator.state();
  require(state.node != nullptr,
          "nodes_of: expected a communicator made by communicator_on_nodes, got one without nodes");
  return *state.node;
}

int node_local_rank() {
  return nodes_of(communicator_on_nodes(MPI_COMM_WORLD)).machine_rank;
}

}  // namespace tessera::detail
