// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include <tessera/comm/collectives.hpp>

namespace tessera::detail {

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

}  // namespace tessera::detail
