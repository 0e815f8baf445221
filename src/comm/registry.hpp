// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For node: the duplicates of users' communicators.
#pragma once

#include <memory>

#include <mpi.h>

#include "comm/communicator_state.hpp"

namespace tessera::detail {

/// The duplicate that hangs on `user`, or null.
std::shared_ptr<CommunicatorState> find_duplicate(MPI_Comm user);

/// Hangs `state` on `user`: freed together with it, or at MPI_Finalize.
void attach(MPI_Comm user, const std::shared_ptr<CommunicatorState>& state);

/// Takes the duplicate off `user` and frees it: a call whose set-up failed begins anew next time.
void detach(MPI_Comm user);

/// Frees the duplicate and the communicators made from it. Does nothing the second time.
void release(CommunicatorState& state) noexcept;

}  // namespace tessera::detail
