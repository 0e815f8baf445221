// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures what the library costs besides moving data, on any number of ranks that divides 4.
#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../ranks.hpp"

namespace {

using namespace tessera;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// The number of calls is fixed, because all ranks have to make the same calls.
constexpr int calls = 200'000;

const DeviceMesh& world() {
  static const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  return mesh;
}

void from_local_with_known_shape(benchmark::State& state) {
  const auto view = zeros<Matrix>(world(), {Shard(0)}, {4, 4}).to_local();
  for (auto _ : state) benchmark::DoNotOptimize(from_local(view, world(), {Shard(0)}, {4, 4}));
}
BENCHMARK(from_local_with_known_shape)->Iterations(calls);

void local_map_of_the_identity(benchmark::State& state) {
  const auto tensor = zeros<Matrix>(world(), {Shard(0)}, {4, 4});
  const auto identity = local_map([](const Matrix& view) { return view; }, like_input(0));
  for (auto _ : state) benchmark::DoNotOptimize(identity(tensor));
}
BENCHMARK(local_map_of_the_identity)->Iterations(calls);

void redistribute_with_cached_plan(benchmark::State& state) {
  const auto rows = zeros<Matrix>(world(), {Shard(0)}, {4, 4});
  const auto columns = zeros<Matrix>(world(), {Shard(1)}, {4, 4});
  for (auto _ : state) redistribute_into(columns, rows);
}
BENCHMARK(redistribute_with_cached_plan)->Iterations(calls);

void plan_lookup(benchmark::State& state) {
  const auto rows = zeros<Matrix>(world(), {Shard(0)}, {4, 4}).spec();
  const auto columns = zeros<Matrix>(world(), {Shard(1)}, {4, 4}).spec();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        detail::cached_redistributor(world(), rows, columns, element_type<double>(), {}));
}
BENCHMARK(plan_lookup)->Iterations(calls);

void make_plan_on_64x64_ranks(benchmark::State& state) {
  const MeshLayout layout({64, 64});
  const DTensorSpec from(layout, {Shard(0), Shard(1)}, {1000, 999, 512});
  const DTensorSpec to(layout, {Shard(1), Shard(2)}, {1000, 999, 512});
  for (auto _ : state)
    benchmark::DoNotOptimize(make_plan(from, to, element_type<double>()).steps(2017));
}
BENCHMARK(make_plan_on_64x64_ranks);

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  return perf::run_benchmarks(argc, argv, world().rank());
}
