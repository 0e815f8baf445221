// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::detail {

/// Is one action of the reversal of a loop. Snapshots lie on a stack.
struct RevolveAction {
  enum class Kind : std::uint8_t {
    store,    ///< puts the current state, of number `step`, on the stack
    restore,  ///< makes the snapshot on top of the stack, of number `step`, the current state
    discard,  ///< takes the snapshot of number `step` from the stack
    advance,  ///< runs steps, without recording them, until the state has the number `step`
    reverse,  ///< records step number `step` from the current state, and goes back through it
  };

  Kind kind;
  int step;

  friend bool operator==(const RevolveAction&, const RevolveAction&) = default;
};

/// Returns the largest number of steps that can be reversed with `snapshots` snapshots if no step
/// runs more than `repetitions` times before it is recorded: (snapshots + repetitions)! /
/// (snapshots! repetitions!). Where that is above `limit`, it returns limit + 1.
std::int64_t reversible_steps(std::int64_t snapshots, std::int64_t repetitions, std::int64_t limit);

/// Returns the actions that reverse `steps` steps with at most `snapshots` snapshots at a time, one
/// of them that of the first state, and with the fewest steps that run without being recorded. At
/// the start the first state is the current one. Expects at least 0 steps and 1 snapshot.
/// Source: Griewank, Optim. Methods Softw. 1 (1992); Griewank and Walther, ACM TOMS 26 (2000),
///         revolve.
std::vector<RevolveAction> revolve(int steps, int snapshots);

}  // namespace tessera::detail
