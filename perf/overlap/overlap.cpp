// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures what it costs to compute while a redistribution runs in the background. Each rank is a
// node of its own, so that all data travels in messages. The ranks compute for as long as the
// exchange takes, and call test() ten times meanwhile. All ranks have to run on one machine, since
// they compare times of one clock.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../ranks.hpp"

namespace {

using namespace tessera;
using perf::median;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

constexpr int tests = 10;
constexpr int rounds = 15;
constexpr std::int64_t edge = 4096;

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const DeviceMesh& world() {
  static const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  return mesh;
}

double reduced(double mine, MPI_Op op) {
  double result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return result;
}

/// Runs `steps` steps of arithmetic that leave the caches alone. The number of steps per second
/// depends on the machine.
void compute(std::int64_t steps) {
  double value = 1;
  for (std::int64_t i = 0; i < steps; ++i) {
    value = value * 0.999999 + 1e-6;
    benchmark::DoNotOptimize(value);
  }
}

/// Holds what a call took, in seconds: `span` is the time by the clock of the machine from the
/// first start to the last end among the ranks for which `counts` is true; `cpu` is the CPU time of
/// a rank, on average.
struct Took {
  double span;
  double cpu;
};

Took timed(bool counts, const std::function<void()>& run) {
  constexpr double never = 1e30;
  reduced(0, MPI_SUM);
  const double start = seconds(CLOCK_MONOTONIC);
  const double cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID);
  run();
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
  const double end = seconds(CLOCK_MONOTONIC);
  const double first = reduced(counts ? start : never, MPI_MIN);
  const double last = reduced(counts ? end : 0, MPI_MAX);
  return {last - first, reduced(cpu, MPI_SUM) / world().size()};
}

struct Transition {
  const char* name;
  Placement from;
  Placement to;
};

const std::array transitions = {Transition{"S0->S1", Shard(0), Shard(1)},
                                Transition{"S0->R", Shard(0), Replicate()},
                                Transition{"P->S0", Partial(), Shard(0)}};

DTensor<Matrix> source_of(const Transition& transition) {
  const bool is_partial = transition.from.is_partial();
  const auto placement = is_partial ? Placement(Replicate()) : transition.from;
  const auto tensor = ones<Matrix>(world(), {placement}, {edge, edge});
  return is_partial ? from_local(tensor.to_local(), world(), {Partial()}, {edge, edge}) : tensor;
}

/// Holds medians, in seconds.
struct Result {
  double exchange;   ///< the exchange alone
  double cpu;        ///< CPU time that a rank spends on the exchange: pack, copies, unpack
  double computing;  ///< the computation alone
  double both;       ///< the computation, with the exchange in the background
  double late;       ///< `both` on the even ranks, while the odd ranks begin as late as an exchange
                     ///< takes
};

/// Returns how many steps of compute() take the time `span`, in seconds.
std::int64_t steps_in(double span) {
  constexpr std::int64_t trial = 1'000'000;
  compute(trial);
  return static_cast<std::int64_t>(trial * span / timed(true, [] { compute(trial); }).span);
}

Result measure(const Transition& transition) {
  const auto source = source_of(transition);
  const Placements target{transition.to};
  const auto exchange = [&] { redistribute_async(source, target).wait(); };
  for (int i = 0; i < 3; ++i) exchange();
  const auto steps = steps_in(timed(true, exchange).span);
  const auto both = [&] {
    auto pending = redistribute_async(source, target);
    for (int i = 0; i < tests; ++i) {
      compute(steps / tests);
      pending.test();
    }
    pending.wait();
  };
  const bool computes = world().rank() % 2 == 0;
  std::array<std::vector<double>, 5> all;
  for (int round = 0; round < rounds; ++round) {
    const auto alone = timed(true, exchange);
    all[0].push_back(alone.span);
    all[1].push_back(alone.cpu);
    all[2].push_back(timed(true, [&] { compute(steps); }).span);
    all[3].push_back(timed(true, both).span);
    all[4].push_back(timed(computes, [&] {
                       if (computes) return both();
                       compute(steps);
                       exchange();
                     }).span);
  }
  return {median(all[0]), median(all[1]), median(all[2]), median(all[3]), median(all[4])};
}

void overlap(benchmark::State& state, const Transition& transition) {
  for (auto _ : state) {
    const auto result = measure(transition);
    state.SetIterationTime(result.both);
    state.counters["exchange_ms"] = 1e3 * result.exchange;
    state.counters["cpu_ms"] = 1e3 * result.cpu;
    state.counters["compute_ms"] = 1e3 * result.computing;
    state.counters["both_of_compute_and_cpu"] = result.both / (result.computing + result.cpu);
    // In the best case the even ranks compute during the whole wait, and the exchange follows.
    state.counters["lost_of_wait"] =
        (result.late - result.computing - result.exchange) / result.exchange;
  }
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TESSERA_NODES", "each", 0);
  ScopeGuard guard(argc, argv);
  for (const auto& transition : transitions)
    benchmark::RegisterBenchmark(transition.name, overlap, transition)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  return perf::run_benchmarks(argc, argv, world().rank());
}
