// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <tessera/comm/collectives.hpp>

namespace tessera {

/// Which ranks of a communicator share a node: node[rank] counts nodes from 0 in order of their
/// first rank.
struct NodeMap {
  std::vector<int> node;

  /// Number of nodes.
  int nodes() const;
  /// Ranks on the node of `rank`, ascending.
  std::vector<int> peers(int rank) const;
  /// Position of `rank` among them.
  int position(int rank) const;
};

namespace detail {

/// Numbers nodes from 0 in order of their first rank; ranks with one label are on one node.
NodeMap node_map_of(std::span<const int> labels);

/// The node map that a value of TESSERA_NODES asks for. `world_ranks`: for each rank, its rank in
/// MPI_COMM_WORLD.
///
/// Errors: InvalidArgument if `text` is malformed or has less than `world_size` entries.
NodeMap parse_node_map(std::string_view text, std::span<const int> world_ranks, int world_size);

/// What ranks found out about the hardware that they share.
struct SharedHardware {
  NodeMap node_map;  ///< ranks that can open the same POSIX shared memory
  int ranks = 1;     ///< on the caller's machine
  int cores = 1;     ///< that one or another of them may use
};

/// Collective over the group. Leaves nothing in shared memory.
SharedHardware probe_shared_hardware(const Group& group);

/// Fills in the node map and whether the node is oversubscribed. Collective over the duplicate.
void learn_nodes(const Communicator& communicator);

}  // namespace detail
}  // namespace tessera
