// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// The duplicate of a user's communicator, which all its ranks make together, within a time limit.
#pragma once

#include <mpi.h>

namespace tessera::detail {

/// Returns a new duplicate of `user`. Collective over `user`.
///
/// There is no channel yet by which ranks could tell one another anything. After `limit` seconds a
/// rank that waits tells the others by an empty message on `user` itself, and all that wait throw;
/// so does a rank that comes later and finds such a message, with another text. MPI_Comm_idup cannot
/// be cancelled: a later call on `user` goes on waiting for the same duplicate, and until it comes,
/// comm::finish() does not finalise MPI. Errors: Timeout, which names the ranks that were not heard;
/// MpiError.
MPI_Comm duplicate_within(MPI_Comm user, double limit);

}  // namespace tessera::detail
