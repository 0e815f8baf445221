// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Benchmarks of calls that all ranks make together, each beside another way to do the same.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <benchmark/benchmark.h>

#include <tessera/mesh/device_mesh.hpp>

#include "ranks.hpp"

namespace tessera::perf {

/// Returns the mesh of all ranks.
inline const DeviceMesh& world() {
  static const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  return mesh;
}

/// Returns the seconds that `call` takes on all ranks, between two barriers.
inline double timed(const std::function<void()>& call) {
  Kokkos::fence();
  MPI_Barrier(MPI_COMM_WORLD);
  const Kokkos::Timer timer;
  call();
  Kokkos::fence();
  MPI_Barrier(MPI_COMM_WORLD);
  return timer.seconds();
}

struct Pair {
  double ours;
  double other;
};

/// Number of times that each call is timed.
inline int rounds = 15;

/// Returns the median times of both calls in seconds; the two calls take turns.
inline Pair in_turns(const std::function<void()>& ours, const std::function<void()>& other) {
  std::array<std::vector<double>, 2> all;
  for (int round = -1; round < rounds; ++round) {
    const Pair took{timed(ours), timed(other)};
    if (round < 0) continue;  // warm-up: plans and buffers are made once
    all[0].push_back(took.ours);
    all[1].push_back(took.other);
  }
  return {median(all[0]), median(all[1])};
}

/// Reports the median times of both calls, which take turns, and their ratio.
inline void compare(benchmark::State& state, const std::function<void()>& ours,
                    const std::function<void()>& other) {
  const auto took = in_turns(ours, other);
  state.SetIterationTime(took.ours);
  state.counters["other_ms"] = 1e3 * took.other;
  state.counters["ratio"] = took.ours / took.other;
}

using Benchmark = std::function<void(benchmark::State&)>;

/// Registers a benchmark that runs once and reports its own time.
inline void add(const std::string& name, const Benchmark& run, benchmark::TimeUnit unit) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [run](benchmark::State& state) {
                                 for (auto _ : state) run(state);
                               })
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(unit);
}

/// Removes --tessera_brief from the arguments. Returns whether it was there; then there are 3 rounds.
inline bool take_brief(std::vector<char*>& arguments) {
  const auto brief = std::ranges::find(arguments, std::string_view("--tessera_brief"));
  if (brief == arguments.end()) return false;
  arguments.erase(brief);
  rounds = 3;
  return true;
}

}  // namespace tessera::perf
