// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace tessera::perf {

/// What the library does in one call, on all ranks together. Unlike seconds, the same on every
/// machine with as many ranks.
struct Counted {
  std::int64_t messages = 0;  ///< chunks in a window count as one each
  std::int64_t bytes = 0;     ///< sent to other ranks
  std::int64_t fences = 0;
  std::int64_t allocations = 0;  ///< of Kokkos
};

/// Counts while it runs `call`. Collective over MPI_COMM_WORLD.
Counted count(const std::function<void()>& call);

}  // namespace tessera::perf
