// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::detail {

/// Returns how many cores of this machine there are for each rank of the fullest communicator so
/// far: the limit for threads of kernels on the host, which know no communicator.
int cores_per_rank();

/// Lowers cores_per_rank() to `cores`, and returns what it was.
int note_cores_per_rank(int cores);

/// Sets cores_per_rank() whatever it was, for tests, and returns what it was.
int set_cores_per_rank(int cores);

}  // namespace tessera::detail
