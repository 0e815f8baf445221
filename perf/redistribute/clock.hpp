// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace tessera::perf {

/// Waits for all ranks, and meanwhile leaves the core to ranks that have work. Collective.
void barrier();

/// Holds how long some calls took, in seconds; the values are the same on every rank.
struct Span {
  double total = 0;  ///< time between the first rank's start and the last rank's end
  double mean = 0;   ///< mean of the ranks' own times
};

/// Runs `run` `calls` times on every rank, behind a barrier, and returns the time of all calls
/// together. All ranks have to be on one node, because they read one clock. Collective.
Span time_calls(const std::function<void()>& run, int calls);

/// Reads memory until the caches, those shared by cores included, hold nothing that was there
/// before. Collective.
void evict_caches(int ranks);

}  // namespace tessera::perf
