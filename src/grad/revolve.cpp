// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <grad/revolve.hpp>

namespace tessera::detail {
namespace {

/// Returns how many steps to advance before the next snapshot, at least 1. The steps before it are
/// reversed with all snapshots, those behind it with one snapshot less. Both parts then need no
/// more repetitions than all steps together.
int steps_to_next_snapshot(int steps, int snapshots) {
  if (snapshots == 1) return steps - 1;
  std::int64_t repetitions = 0;
  while (reversible_steps(snapshots, repetitions, steps) < steps) ++repetitions;
  const auto before = reversible_steps(snapshots, repetitions - 2, steps);
  const auto behind = reversible_steps(snapshots - 1, repetitions, steps);
  return static_cast<int>(std::max({std::int64_t{1}, before, steps - behind}));
}

/// Is a range of steps whose first state is a snapshot.
struct StepRange {
  int begin;
  int end;
};

}  // namespace

std::int64_t reversible_steps(std::int64_t snapshots, std::int64_t repetitions,
                              std::int64_t limit) {
  if (repetitions < 0) return 0;
  const auto fewer = std::min(snapshots, repetitions), more = std::max(snapshots, repetitions);
  std::int64_t result = 1;
  for (std::int64_t k = 1; k <= fewer && result <= limit; ++k) result = result * (more + k) / k;
  return std::min(result, limit + 1);
}

std::vector<RevolveAction> revolve(int steps, int snapshots) {
  using enum RevolveAction::Kind;
  std::vector<RevolveAction> actions;
  std::vector<StepRange> ranges;  // one for each snapshot, each ends where the next one began
  const auto begin_range = [&](int begin, int end) {
    actions.push_back({store, begin});
    ranges.push_back({begin, end});
  };
  if (steps > 0) begin_range(0, steps);
  while (!ranges.empty()) {
    const auto [begin, end] = ranges.back();
    if (end - begin == 1) {
      actions.push_back({discard, begin});
      actions.push_back({reverse, begin});
      ranges.pop_back();
    } else {
      const auto left = std::min(snapshots, steps) - static_cast<int>(ranges.size()) + 1;
      const auto middle = begin + steps_to_next_snapshot(end - begin, left);
      actions.push_back({advance, middle});
      ranges.back().end = middle;
      if (end - middle > 1) {
        begin_range(middle, end);
        continue;
      }
      actions.push_back({reverse, middle});
    }
    if (!ranges.empty()) actions.push_back({restore, ranges.back().begin});
  }
  return actions;
}

}  // namespace tessera::detail
