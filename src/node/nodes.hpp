// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For mesh, tensor, engine and redistribute: what is attached to a communicator about the nodes
// that its ranks run on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/comm/communicator.hpp>

#include "node/device_slots.hpp"
#include "node/node_map.hpp"
#include "node/node_window.hpp"

namespace tessera::detail {

/// A NodeState holds the nodes of a communicator, and the memory that the ranks of this node share.
struct NodeState {
  NodeMap map;
  int machine_rank = 0;  ///< number of lower ranks on this machine, whatever TESSERA_NODES says
  std::shared_ptr<MappedWindow> window;  ///< window of this node; null if there is none
  std::vector<int> lanes;  ///< position of each rank in the window, -1 on other nodes; or empty
  std::int64_t smallest_slot = 0;  ///< smallest of all windows, bytes; 0 if there is none
  std::shared_ptr<DeviceSlots> device_slots;  ///< slots of this node; null if there are none
  std::int64_t smallest_device_slot = 0;      ///< smallest on all nodes, bytes; 0 if there is none
};

/// Returns the library's duplicate of `user` (see Communicator::duplicate_of) after its ranks have
/// detected who shares a node, and have made the window of each node.
///
/// Collective over `user` at the first call, local afterwards. Two ranks share a node if they have
/// the same boot id and can open the same POSIX shared memory. The environment variable
/// TESSERA_NODES of rank 0 overrides this: it gives a node number for every rank of MPI_COMM_WORLD,
/// such as 0,0,0,1 (more numbers than there are ranks are ignored), or `each`, which makes every
/// rank a node of its own.
///
/// Errors: those of Communicator::duplicate_of; InvalidArgument for a TESSERA_NODES that is
/// malformed or too short, and for a TESSERA_WINDOW that is no number of bytes (on every rank). The
/// next call makes a new duplicate.
Communicator communicator_on_nodes(MPI_Comm user);

/// Returns what communicator_on_nodes() has attached to this communicator.
NodeState& nodes_of(const Communicator& communicator);

/// Returns the rank of this process among those of MPI_COMM_WORLD that it shares memory with, from
/// 0, whatever TESSERA_NODES says. Collective over MPI_COMM_WORLD at the first call, local
/// afterwards.
int node_local_rank();

}  // namespace tessera::detail
