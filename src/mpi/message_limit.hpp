// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm: the longest message that MPI takes.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Returns the largest message that MPI takes, bytes: no limit if MPI has large counts
/// (MPI_Isend_c, MPI_Irecv_c), otherwise 1 GiB. It is the same on all ranks.
std::int64_t default_message_limit();

}  // namespace tessera::detail
