// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For agreement, comm and tensor: the rank in MPI_COMM_WORLD.
#pragma once

namespace tessera::detail {

/// Returns the rank of this process in MPI_COMM_WORLD. Errors: MpiError.
int world_rank();

}  // namespace tessera::detail
