// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For all folders: clocks.
#pragma once

#include <chrono>
#include <ctime>

namespace tessera::detail {

/// Returns the seconds of a clock that never runs backwards. Unlike MPI_Wtime, it is usable outside
/// MPI's lifetime.
inline double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Returns the seconds since 1970, exact to some milliseconds, at little more than the cost of a
/// memory read.
inline double coarse_time() {
  timespec now{};
#if defined(CLOCK_REALTIME_COARSE)
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
  clock_gettime(CLOCK_REALTIME, &now);
#endif
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace tessera::detail
