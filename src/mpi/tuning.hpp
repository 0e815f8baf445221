// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm and file: the tuned constants of the layer on MPI, sizes of what one call of MPI moves.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Largest number of bytes that one file access moves on a rank, equal on all ranks.
///
/// A larger value needs fewer collective rounds. A smaller one keeps MPI-IO's list of runs shorter:
/// a run counts at least `run_weight` bytes (file/tuning.hpp), so that a round has at most 2^20
/// runs. The value must stay below 2^31, because the functions of MPI-IO take counts of type int.
/// Not measured on its own; judgement. Shown by: no row. A benchmark that writes more than 1 GiB
/// from one rank as .npy would show it.
inline constexpr std::int64_t default_io_limit = std::int64_t{1} << 30;

}  // namespace tessera::detail
