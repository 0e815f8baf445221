// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tessera::detail {

struct RevolveAction;

/// Goes forward and back through a loop, by the actions of revolve(). What a state is, a derived
/// class knows.
class LoopReversal {
 public:
  /// Expects at least 1 step and 1 snapshot.
  LoopReversal(int steps, int snapshots);
  LoopReversal(const LoopReversal&) = delete;
  LoopReversal& operator=(const LoopReversal&) = delete;
  virtual ~LoopReversal();

 protected:
  /// Runs all steps; the last one is recorded.
  void go_forward();
  /// Goes back through all steps. It goes forward first, unless that was done since the last time.
  void go_back();

 private:
  /// Makes the first state the current one; there are no snapshots.
  virtual void begin() = 0;
  /// Puts the current state on the stack of snapshots.
  virtual void store() = 0;
  /// Makes the snapshot on top of the stack the current state.
  virtual void restore() = 0;
  /// Takes a snapshot from the stack.
  virtual void discard() = 0;
  /// Runs a step without recording it.
  virtual void advance(int step) = 0;
  /// Runs a step and records it; then there is no current state.
  virtual void record(int step) = 0;
  /// Passes the gradient back through the recorded step, and forgets it.
  virtual void reverse() = 0;

  void move(const RevolveAction& action);

  std::vector<RevolveAction> actions_;
  std::size_t next_ = 0;       ///< position in `actions_`
  int number_ = 0;             ///< that of the current state
  bool has_recorded_ = false;  ///< whether the step of the next action is recorded
};

}  // namespace tessera::detail
