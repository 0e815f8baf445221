// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <mpi.h>

namespace tessera::detail {

/// Completes all requests, by tests with pauses between them (see Backoff): never blocks inside
/// MPI, where it could not yield.
///
/// MPICH gives failures of requests to the error handler of MPI_COMM_WORLD: an exception comes only
/// where that is not MPI_ERRORS_ARE_FATAL.
/// Errors: MpiError for the first request that failed; those after it are still open.
void wait_all(std::span<MPI_Request> requests, bool oversubscribed);

/// The same without throwing, for `at_most` seconds. Returns whether all are complete, failed ones
/// included.
bool drain(std::span<MPI_Request> requests, double at_most) noexcept;

}  // namespace tessera::detail
