// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::detail {

/// Returns the number of cores per rank on this machine, the smallest of all communicators so far.
/// Host kernels, which do not know their communicator, use at most this number of threads.
int cores_per_rank();

/// Lowers cores_per_rank() to `cores` if it was larger, and returns what it was.
int note_cores_per_rank(int cores);

/// Sets cores_per_rank() to `cores`, whatever it was, and returns what it was. For tests.
int set_cores_per_rank(int cores);

}  // namespace tessera::detail
