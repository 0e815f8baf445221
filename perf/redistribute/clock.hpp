// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace tessera::perf {

/// Waits for all ranks, leaving the core to those that have work. Collective.
void barrier();

/// What some calls took, in seconds, the same on every rank.
struct Span {
  double total = 0;  ///< from the first rank's start to the last rank's end
  double mean = 0;   ///< of the ranks' own times
};

/// Runs the same calls on every rank, behind a barrier. All ranks are on one node and read one
/// clock. Collective.
Span time_calls(const std::function<void()>& run, int calls);

/// Reads memory until nothing of before is left in the caches, those that the cores share included.
/// Collective.
void evict_caches(int ranks);

}  // namespace tessera::perf
