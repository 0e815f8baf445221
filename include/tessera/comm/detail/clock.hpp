// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tessera::detail {

/// Seconds of a clock that only runs forwards; usable outside MPI's lifetime, unlike MPI_Wtime.
inline double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace tessera::detail
