// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace tessera::perf {

/// Counts what the library does in one call, on all ranks together. Unlike times, the counts are
/// the same on every machine with the same number of ranks.
struct Counted {
  std::int64_t messages = 0;  ///< messages; each chunk in a window counts as one
  std::int64_t bytes = 0;     ///< bytes sent to other ranks
  std::int64_t fences = 0;
  std::int64_t allocations = 0;  ///< allocations that Kokkos reports
};

/// Runs `call` and returns the counts. Collective over MPI_COMM_WORLD.
Counted count(const std::function<void()>& call);

}  // namespace tessera::perf
