// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

namespace tessera::detail {

/// How a loop waits for another rank: it spins a number of times, then gives the core away at every
/// turn.
///
/// Where a node runs more ranks than it has cores, the peer waited for often has no core yet:
/// spinning only delays it.
class Backoff {
 public:
  explicit Backoff(bool oversubscribed) : spins_left_(oversubscribed ? 4 : 200) {}

  /// Returns whether it gave the core away.
  bool pause() {
    if (spins_left_ > 0) {
      --spins_left_;
      return false;
    }
    sched_yield();
    return true;
  }

 private:
  int spins_left_;
};

}  // namespace tessera::detail
