// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For agreement and comm: nonblocking messages of any length that MPI takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <mpi.h>

namespace tessera::detail {

/// Posts a nonblocking send (of const data) or receive of `bytes` bytes, at most
/// default_message_limit(). Returns MPI's error code.
int post(MPI_Comm comm, const std::byte* data, std::int64_t bytes, int destination, int tag,
         MPI_Request& request);
int post(MPI_Comm comm, std::byte* data, std::int64_t bytes, int source, int tag,
         MPI_Request& request);
/// Posts the nonblocking receive of a message that was matched by a probe. Errors: MpiError.
void post_matched(std::byte* data, std::int64_t bytes, MPI_Message& message, MPI_Request& request);

}  // namespace tessera::detail
