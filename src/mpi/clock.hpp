// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For all folders: seconds of one clock.
#pragma once

#include <chrono>
#include <ctime>

namespace tessera::detail {

/// Seconds of a clock that only runs forwards; usable outside MPI's lifetime, unlike MPI_Wtime.
inline double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Seconds since 1970, to some milliseconds, for little more than a read of memory.
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
