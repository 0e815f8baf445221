// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <tessera/comm/collectives.hpp>

namespace tessera {

/// A NodeMap says which ranks of a communicator share a node: node[rank] is the number of its node.
/// Nodes are numbered from 0 in order of their first rank.
struct NodeMap {
  std::vector<int> node;

  /// Returns the number of nodes.
  int nodes() const;
  /// Returns the ranks on the node of `rank`, ascending.
  std::vector<int> peers(int rank) const;
  /// Returns the position of `rank` among its peers().
  int position(int rank) const;
};

namespace detail {

/// Makes a map in which ranks with equal labels share a node. Nodes are numbered from 0 in order of
/// their first rank.
NodeMap node_map_of(std::span<const int> labels);

/// Returns the node map that `text`, a value of TESSERA_NODES, asks for. `world_ranks` holds for
/// each rank its rank in MPI_COMM_WORLD.
///
/// Errors: InvalidArgument if `text` is malformed or has fewer than `world_size` entries.
NodeMap parse_node_map(std::string_view text, std::span<const int> world_ranks, int world_size);

/// SharedHardware is what the ranks have detected about the hardware that they share.
struct SharedHardware {
  NodeMap node_map;  ///< a node is the ranks that can open the same POSIX shared memory
  int ranks = 1;     ///< number of ranks of the group on the caller's machine
  int cores = 1;     ///< number of cores that at least one of these ranks may use
};

/// Detects which ranks share hardware. Collective over the group. Leaves nothing in shared memory.
SharedHardware probe_shared_hardware(const Group& group);

/// Sets the node map and whether the node is oversubscribed. Collective over the duplicate.
void detect_nodes(const Communicator& communicator);

}  // namespace detail
}  // namespace tessera
