// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For node, file, mesh, engine and redistribute: what the handles of a communicator share.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include <tessera/comm/communicator.hpp>

#include "agreement/control.hpp"
#include "comm/exchange.hpp"
#include "comm/staging.hpp"

namespace tessera {

namespace detail {
struct NodeState;
}

/// Holds what the handles of one duplicate share. `handle` is MPI_COMM_NULL once it was freed.
struct Communicator::State {
  MPI_Comm handle = MPI_COMM_NULL;
  MPI_Errhandler user_errhandler = MPI_ERRHANDLER_NULL;  ///< the user's, which group() sets
  int rank = 0;
  int size = 1;
  std::vector<int> all_ranks;
  std::int64_t message_limit;  ///< longest message, bytes; longer ones are sent in segments
  std::int64_t io_limit;       ///< most that one collective file access moves on a rank, bytes
  std::map<std::vector<int>, MPI_Comm> groups;
  std::unique_ptr<detail::Control> control;
  std::vector<std::vector<detail::Segment>> spare_segments;  ///< reused by later exchanges
  detail::Staging staging = detail::Staging::device_memory;  ///< the same on all ranks
  std::string staging_source;                                ///< what has decided on `staging`
  detail::WantedPath wanted_path;
  bool may_share_device_memory = false;  ///< whether making the first mesh tries device slots
  detail::DevicePath device_path = detail::DevicePath::stage;  ///< path on nodes, same on all ranks
  std::shared_ptr<detail::NodeState> node;  ///< attached by detail::communicator_on_nodes()
};

namespace detail {

using CommunicatorState = Communicator::State;

}  // namespace detail
}  // namespace tessera
