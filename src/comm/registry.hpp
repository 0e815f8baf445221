// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <mpi.h>

#include "comm/communicator_state.hpp"

namespace tessera::detail {

/// The duplicate that hangs on `user`, or null.
std::shared_ptr<CommunicatorState> find_duplicate(MPI_Comm user);

/// Hangs `state` on `user`: freed together with it, or at MPI_Finalize.
void attach(MPI_Comm user, const std::shared_ptr<CommunicatorState>& state);

/// Frees the duplicate and the communicators made from it. Does nothing the second time.
void release(CommunicatorState& state) noexcept;

}  // namespace tessera::detail
