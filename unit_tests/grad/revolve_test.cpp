// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// The schedule that reverses loops with few snapshots.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <grad/revolve.hpp>

#include <gtest/gtest.h>

namespace tessera::test {
namespace {

using detail::reversible_steps;
using detail::revolve;
using detail::RevolveAction;

/// Holds the least number of advances for up to `steps` steps and `snapshots` snapshots, found by
/// trying all positions of the next snapshot.
class LeastAdvances {
 public:
  LeastAdvances(std::size_t steps, std::size_t snapshots)
      : least_(steps + 1, std::vector<std::int64_t>(snapshots + 1, 0)) {
    for (std::size_t l = 2; l <= steps; ++l) {
      least_[l][0] = unreachable;
      for (std::size_t s = 1; s <= snapshots; ++s) {
        least_[l][s] = unreachable;
        for (std::size_t m = 1; m < l; ++m)
          least_[l][s] = std::min(
              least_[l][s], static_cast<std::int64_t>(m) + least_[l - m][s - 1] + least_[m][s]);
      }
    }
  }

  std::int64_t operator()(int steps, int snapshots) const {
    return least_[static_cast<std::size_t>(steps)][static_cast<std::size_t>(snapshots)];
  }

 private:
  static constexpr auto unreachable = std::numeric_limits<std::int64_t>::max() / 4;
  std::vector<std::vector<std::int64_t>> least_;
};

/// Returns r l - β(s + 1, r - 1), where β(s, r - 1) < l <= β(s, r).
std::int64_t by_formula(int steps, int snapshots) {
  std::int64_t r = 0;
  while (reversible_steps(snapshots, r, steps) < steps) ++r;
  return r * steps - reversible_steps(snapshots + 1, r - 1, r * steps);
}

/// Runs a schedule with numbers as states.
struct Replay {
  std::vector<int> stack;
  std::vector<int> reversed;
  std::int64_t advances = 0;
  std::size_t most_snapshots = 0;

  explicit Replay(const std::vector<RevolveAction>& actions) {
    for (const auto& action : actions) run(action);
  }

 private:
  void run(const RevolveAction& action) {
    using enum RevolveAction::Kind;
    if (action.kind == store) {
      EXPECT_EQ(action.step, current_);
      stack.push_back(current_);
      most_snapshots = std::max(most_snapshots, stack.size());
    } else if (action.kind == restore) {
      EXPECT_EQ(action.step, stack.back());
      current_ = stack.back();
    } else if (action.kind == discard) {
      EXPECT_EQ(action.step, stack.back());
      stack.pop_back();
    } else if (action.kind == advance) {
      EXPECT_GT(action.step, current_);
      advances += action.step - current_;
      current_ = action.step;
    } else {
      EXPECT_EQ(action.step, current_);
      reversed.push_back(current_);
      current_ = -1;
    }
  }

  int current_ = 0;
};

std::vector<int> descending(int steps) {
  std::vector<int> result;
  for (int i = steps; i-- > 0;) result.push_back(i);
  return result;
}

TEST(Revolve, takes_as_few_steps_as_is_possible) {
  const LeastAdvances least(60, 6);
  for (int steps = 1; steps <= 60; ++steps)
    for (int snapshots = 1; snapshots <= 6; ++snapshots) {
      const Replay replay(revolve(steps, snapshots));
      EXPECT_EQ(replay.advances, least(steps, snapshots)) << steps << " steps, " << snapshots;
      EXPECT_EQ(by_formula(steps, snapshots), least(steps, snapshots))
          << steps << ", " << snapshots;
    }
}

TEST(Revolve, reverses_all_steps_with_the_snapshots_that_there_are) {
  for (const int steps : {1, 2, 3, 10, 57, 1000})
    for (const int snapshots : {1, 2, 3, 10, 2000}) {
      const Replay replay(revolve(steps, snapshots));
      EXPECT_EQ(replay.reversed, descending(steps));
      EXPECT_LE(replay.most_snapshots, static_cast<std::size_t>(snapshots));
      EXPECT_TRUE(replay.stack.empty());
      EXPECT_EQ(replay.advances, by_formula(steps, snapshots)) << steps << ", " << snapshots;
    }
}

TEST(Revolve, with_enough_snapshots_runs_each_step_once_more) {
  EXPECT_EQ(Replay(revolve(10, 9)).advances, 9);
  EXPECT_EQ(Replay(revolve(10, 1)).advances, 45);
}

TEST(Revolve, takes_the_numbers_of_steps_that_griewank_and_walther_give) {
  EXPECT_EQ(Replay(revolve(10, 3)).advances, 15);
  EXPECT_EQ(Replay(revolve(12, 3)).advances, 21);
  EXPECT_EQ(Replay(revolve(1000, 10)).advances, 3636);
  EXPECT_EQ(Replay(revolve(1000, 10)).most_snapshots, 10);
}

TEST(Revolve, of_no_steps_does_nothing) {
  EXPECT_TRUE(revolve(0, 3).empty());
}

TEST(Revolve, number_of_reversible_steps_is_a_binomial_coefficient) {
  EXPECT_EQ(reversible_steps(3, -1, 100), 0);
  EXPECT_EQ(reversible_steps(3, 0, 100), 1);
  EXPECT_EQ(reversible_steps(3, 2, 100), 10);
  EXPECT_EQ(reversible_steps(10, 4, 2000), 1001);
  EXPECT_EQ(reversible_steps(10, 4, 1000), 1001);
  EXPECT_EQ(reversible_steps(10, 40, 1000), 1001);
  EXPECT_EQ(reversible_steps(1 << 30, 1 << 30, 1 << 30), (1 << 30) + 1);
}

}  // namespace
}  // namespace tessera::test
