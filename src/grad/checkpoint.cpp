// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <grad/revolve.hpp>

#include <tessera/error/error.hpp>
#include <tessera/grad/checkpoint.hpp>

namespace tessera::detail {

LoopReversal::LoopReversal(int steps, int snapshots) : actions_(revolve(steps, snapshots)) {}

LoopReversal::~LoopReversal() = default;

void LoopReversal::move(const RevolveAction& action) {
  switch (action.kind) {
    case RevolveAction::Kind::store:
      return store();
    case RevolveAction::Kind::restore:
      number_ = action.step;
      return restore();
    case RevolveAction::Kind::discard:
      return discard();
    case RevolveAction::Kind::advance:
      for (; number_ < action.step; ++number_) advance(number_);
      return;
    case RevolveAction::Kind::reverse:
      return record(action.step);
  }
}

void LoopReversal::go_forward() {
  has_recorded_ = false;
  next_ = 0;
  number_ = 0;
  begin();
  while (actions_[next_].kind != RevolveAction::Kind::reverse) move(actions_[next_++]);
  move(actions_[next_]);
  has_recorded_ = true;
}

void LoopReversal::go_back() {
  if (!has_recorded_) go_forward();
  has_recorded_ = false;
  reverse();
  while (++next_ < actions_.size()) {
    move(actions_[next_]);
    if (actions_[next_].kind == RevolveAction::Kind::reverse) reverse();
  }
}

void throw_captured() {
  throw InvalidArgument(
      "checkpoint: expected the function to use variables that it gets as arguments alone, got one "
      "that it captures; pass that as an input, too");
}

void require_steps(int steps, int snapshots) {
  named("checkpoint", [&] {
    require(steps >= 0, [&] { return fmt::format("expected at least 0 steps, got {}", steps); });
    require(snapshots >= 1,
            [&] { return fmt::format("expected at least 1 snapshot, got {}", snapshots); });
  });
}

}  // namespace tessera::detail
