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
  /// Number of turns that a waiting loop spins before it gives its core away at every turn.
  ///
  /// More turns notice an arrival sooner, because no call of the kernel lies between. Fewer turns
  /// leave the core to other processes and begin sooner to watch the control channel. Not measured
  /// on its own; judgement. Shown by: perf_redistribute, rows */16x32 and */64x64 with one core per
  /// rank.
  static constexpr int most_spins = 200;

  /// Number of turns that a waiting loop spins where ranks outnumber the cores, and in all waits
  /// but those of Watch.
  ///
  /// The rank that is awaited then often has no core, and spinning delays it. Not measured on its
  /// own; judgement. With this value, machine A of perf/README.md takes 7.7 to 17 µs on 4 ranks and
  /// 23 to 29 µs on 8 ranks for S0->S1 64². Shown by: perf_redistribute, row S0->S1/64x64 with 4
  /// and 8 ranks on 2 cores.
  static constexpr int most_spins_oversubscribed = 4;

  explicit Backoff(bool oversubscribed)
      : spins_(oversubscribed ? most_spins_oversubscribed : most_spins), spins_left_(spins_) {}

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
