// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>

#include "clock.hpp"
#include "measure.hpp"
#include "values.hpp"
#include "waits.hpp"

namespace tessera::perf {

namespace {

constexpr std::int64_t small_bytes = std::int64_t{1} << 20;
constexpr double enough_seconds = 1e-3;
/// This span is longer, because ranks that share a core start at different times.
constexpr double enough_seconds_if_shared = 10e-3;
constexpr int most_calls = 1 << 16;

/// A Runner is a variant that is being measured.
struct Runner {
  Prepared prepared;
  int calls = 1;
  Timed timed;
};

/// Requires that no rank has a mistake. Collective. Errors: Error on every rank if one has a
/// mistake, which it prints.
void require_right(const std::optional<std::string>& mistake, const std::string& where) {
  if (mistake) std::fprintf(stderr, "%s: %s\n", where.c_str(), mistake->c_str());
  require<Error>(reduced(mistake ? 1 : 0, MPI_MAX) == 0, where + " is wrong");
}

void verify(const std::string& name, const Geometry& geometry, const Workspace& workspace,
            const std::vector<Runner>& runners) {
  for (const auto& [prepared, calls, timed] : runners) {
    if (auto* const last = prepared.result()) poison_target(geometry, last);
    barrier();
    prepared.run();
    if (timed.kind != Kind::bound)
      require_right(mistake_in_target(geometry, prepared.result()), name + "/" + timed.name);
  }
  require_right(mistake_in_source(geometry, workspace.source), name + ": the source after");
}

int calls_per_span(const Prepared& prepared, int ranks) {
  const bool is_shared = ways_to_wait(ranks).size() > 1;
  const double enough = is_shared ? enough_seconds_if_shared : enough_seconds;
  int calls = 1;
  while (calls < most_calls && time_calls(prepared.run, calls).mean < enough) calls *= 2;
  return calls;
}

/// Runs and times each variant once, in a random order; `order` has to be the same on all ranks.
void run_round(std::vector<Runner>& runners, bool is_small, int ranks, std::mt19937& order) {
  std::ranges::shuffle(runners, order);
  for (auto& [prepared, calls, timed] : runners) {
    if (!is_small) evict_caches(ranks);
    timed.seconds.push_back(time_calls(prepared.run, calls).total / calls);
  }
}

}  // namespace

double Timed::median() const {
  auto sorted = seconds;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

Measured measure(const Case& test_case, const DeviceMesh& mesh, int rounds) {
  const auto geometry = geometry_of(test_case, mesh.rank(), mesh.size());
  auto workspace = make_workspace(test_case, mesh);
  fill_source(geometry, workspace.source);
  std::vector<Runner> runners;
  for (const auto& variant : variants(test_case, geometry))
    runners.push_back({variant.prepare(workspace), 1, {variant.name, variant.kind, {}}});
  verify(test_case.name(), geometry, workspace, runners);
  const bool is_small = test_case.bytes() <= small_bytes;
  for (auto& runner : runners)
    if (is_small) runner.calls = calls_per_span(runner.prepared, mesh.size());
  const auto now = static_cast<std::uint64_t>(1e6 * reduced(MPI_Wtime(), MPI_MAX));
  std::mt19937 order(static_cast<std::mt19937::result_type>(now));
  for (int round = 0; round < rounds; ++round) run_round(runners, is_small, mesh.size(), order);
  verify(test_case.name(), geometry, workspace, runners);
  for (auto& [prepared, calls, timed] : runners)
    if (timed.kind == Kind::ours_into || timed.kind == Kind::ours_allocating)
      timed.counted = count(prepared.run);
  Measured result{test_case, {}};
  for (auto& runner : runners) result.variants.push_back(std::move(runner.timed));
  return result;
}

}  // namespace tessera::perf
