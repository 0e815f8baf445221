// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of communication: time limits of exchanges and of reports.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
#pragma once

namespace tessera::detail {

/// Time for which an exchange that ends early waits for messages of a rank taken for dead, seconds.
///
/// The wait is also this long at Agreement::none, where ranks cannot tell one another of a failure.
/// A longer wait lets a late rank take what was sent to it; a shorter one lets the survivors throw
/// sooner. It was 10 s in earlier versions. Not measured on its own; judgement. Shown by: no row;
/// the tests of missing ranks (unit_tests/lifetime) take this time.
inline constexpr double drain_seconds_of_the_dead = 1;

/// Least time between two calls of a progress observer by one operation, seconds.
///
/// The docstring of ProgressScope promises a tenth of a second. A shorter time makes a smoother bar
/// and calls the user's observer more often. Not measured on its own; judgement. Shown by: no row;
/// perf_redistribute installs no observer.
inline constexpr double progress_interval_seconds = 0.1;

}  // namespace tessera::detail
