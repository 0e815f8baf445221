// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For node: the duplicates of users' communicators.
#pragma once

#include <memory>

#include <mpi.h>

#include "comm/communicator_state.hpp"

namespace tessera::detail {

/// Returns the duplicate that is attached to `user`, or null.
std::shared_ptr<CommunicatorState> find_duplicate(MPI_Comm user);

/// Attaches `state` to `user`. It is released when `user` is freed, or at MPI_Finalize.
void attach(MPI_Comm user, const std::shared_ptr<CommunicatorState>& state);

/// Detaches the duplicate from `user` and frees it, so that the call after a failed set-up makes a
/// new one.
void detach(MPI_Comm user);

/// Frees the duplicate and the communicators made from it. A second call does nothing.
void release(CommunicatorState& state) noexcept;

}  // namespace tessera::detail
