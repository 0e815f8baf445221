// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tessera::detail {

/// How a loop waits for another rank: it spins a number of times, then gives the core away at every
/// turn.
///
/// Where a node runs more ranks than it has cores, the peer waited for often has no core yet:
/// spinning only delays it.
class Backoff {
 public:
  explicit Backoff(bool oversubscribed) : spins_(oversubscribed ? 4 : 200), spins_left_(spins_) {}

  /// Returns whether it gave the core away.
  bool pause() {
    if (spins_left_ > 0) {
      --spins_left_;
      relax();
      return false;
    }
    sched_yield();
    return true;
  }

  /// What was waited for has come.
  void restart() { spins_left_ = spins_; }

 private:
  /// Leaves the core to the other hardware thread for a moment.
  static void relax() {
#if defined(__SSE2__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  int spins_;
  int spins_left_;
};

}  // namespace tessera::detail
