// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For file: the tuned constants of communication, which are time limits of exchanges and of
// reports, and the size of a file access.
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

/// Time for which an exchange that ends early waits for messages of a rank taken for dead, seconds.
///
/// The wait is also this long at Agreement::none, where ranks cannot tell one another of a failure.
/// A longer wait lets a late rank take what was sent to it; a shorter one lets the survivors throw
/// sooner. It was 10 s in earlier versions. Not measured on its own; judgement. Shown by: no row;
/// the tests of missing ranks (unit_tests/lifetime) take this time.
inline constexpr double drain_seconds_of_the_dead = 1;

/// Time for which a rank that gives up the first mesh on a communicator listens to the others, seconds.
///
/// A longer time lets ranks be heard that have no core at the moment, and are then not named as
/// missing; a shorter one throws sooner. Not measured on its own; judgement, the time that a failed
/// call listens. Shown by: no row; the tests `first_mesh.*` (unit_tests/lifetime) take this time.
inline constexpr double roll_call_seconds = 0.7;

/// Least time between two calls of a progress observer by one operation, seconds.
///
/// The docstring of ProgressScope promises a tenth of a second. A shorter time makes a smoother bar
/// and calls the user's observer more often. Not measured on its own; judgement. Shown by: no row;
/// perf_redistribute installs no observer.
inline constexpr double progress_interval_seconds = 0.1;

}  // namespace tessera::detail
