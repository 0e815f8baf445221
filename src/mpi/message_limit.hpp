// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm: the longest message that MPI takes.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Largest message that MPI takes: no limit where MPI has large counts (MPI_Isend_c, MPI_Irecv_c),
/// else 1 GiB. The same on all ranks.
std::int64_t default_message_limit();

}  // namespace tessera::detail
