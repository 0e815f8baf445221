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

/// What the handles of one duplicate share. `handle` is MPI_COMM_NULL once it was freed.
struct Communicator::State {
  MPI_Comm handle = MPI_COMM_NULL;
  MPI_Errhandler user_errhandler = MPI_ERRHANDLER_NULL;  ///< for the communicators made by group()
  int rank = 0;
  int size = 1;
  std::vector<int> all_ranks;
  std::int64_t message_limit;  ///< bytes; longer messages are cut
  std::int64_t io_limit;       ///< bytes that one collective file access moves on a rank
  std::map<std::vector<int>, MPI_Comm> groups;
  std::unique_ptr<detail::Control> control;
  std::vector<std::vector<detail::Transfer>> spare_transfers;  ///< for exchanges to come
  detail::Staging staging = detail::Staging::device_memory;    ///< the same on all ranks
  std::string staging_source;                                  ///< what has decided it
  detail::WantedPath wanted_path;
  bool may_share_device_memory = false;  ///< to be found out when the first mesh is made
  detail::DevicePath device_path = detail::DevicePath::stage;  ///< on nodes; the same on all ranks
  std::shared_ptr<detail::NodeState> node;  ///< attached by detail::communicator_on_nodes()
};

namespace detail {

using CommunicatorState = Communicator::State;

}  // namespace detail
}  // namespace tessera
