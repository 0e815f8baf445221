// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures moves that change more than the distribution, each beside another way to do the same in the
// same run: conversions and factors beside the plain move, transposing moves beside a local transpose
// and a plain move, boxes beside hand-written messages.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../in_turns.hpp"
#include "peer.hpp"

namespace tessera::perf {
namespace {

using Matrix = PeerMatrix;
using Columns = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
using Floats = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;

std::int64_t edge = 4096;  // length of a side of the matrices

void narrowed(benchmark::State& state) {
  const auto x = ones<Matrix>(world(), Shard(0), {edge, edge});
  const auto floats = empty<Floats>(world(), Shard(1), {edge, edge});
  const auto doubles = empty<Matrix>(world(), Shard(1), {edge, edge});
  compare(
      state, [&] { redistribute_into(floats, x); }, [&] { redistribute_into(doubles, x); });
}

void widened(benchmark::State& state) {
  const auto x = ones<Floats>(world(), Shard(0), {edge, edge});
  const auto y = ones<Matrix>(world(), Shard(0), {edge, edge});
  const auto target = empty<Matrix>(world(), Shard(1), {edge, edge});
  compare(
      state, [&] { redistribute_into(target, x); }, [&] { redistribute_into(target, y); });
}

void scaled(benchmark::State& state, const IntoOptions& options) {
  const auto x = ones<Matrix>(world(), Shard(0), {edge, edge});
  const auto y = ones<Matrix>(world(), Shard(1), {edge, edge});
  compare(
      state, [&] { redistribute_into(y, x, options); }, [&] { redistribute_into(y, x); });
}

/// Compares the same with COSTA; registered where there is one.
void scaled_by_costa(benchmark::State& state, double alpha, double beta) {
  const auto x = ones<Matrix>(world(), Shard(0), {edge, edge});
  const auto y = ones<Matrix>(world(), Shard(1), {edge, edge});
  const auto z = ones<Matrix>(world(), Shard(1), {edge, edge});
  const auto costa = costa_scaled(x, z, alpha, beta);
  const IntoOptions options{.alpha = alpha, .beta = beta};
  compare(
      state, [&] { redistribute_into(y, x, options); }, costa);
}

/// Compares a move from row-major to column-major shards with a local transpose and a plain move.
void transposing(benchmark::State& state) {
  const auto x = ones<Matrix>(world(), Shard(0), {edge, edge});
  const auto y = empty<Columns>(world(), Shard(1), {edge, edge});
  const auto same_order = empty<Matrix>(world(), Shard(1), {edge, edge});
  compare(
      state, [&] { redistribute_into(y, x); },
      [&] {
        redistribute_into(same_order, x);
        redistribute_into(y, same_order);  // both S(1): nothing travels
      });
}

/// Fetches rows of the next rank, as many as are `bytes`, beside messages of the same.
void fetched(benchmark::State& state, std::int64_t bytes) {
  const std::int64_t columns = 1024;
  const auto rows = bytes / (8 * columns);
  const int n = world().size();
  const int next = (world().rank() + 1) % n;
  const int before = (world().rank() + n - 1) % n;
  const auto x = ones<Matrix>(world(), Shard(0), {2 * rows * n, columns});
  const Box box{{2 * rows * next, 0}, {rows, columns}};
  const auto fetcher = make_fetch(x, box);
  const Matrix patch("patch", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const Matrix other("other", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const auto count = static_cast<int>(rows * columns);
  compare(
      state, [&] { fetcher.fetch(x, patch); },
      [&] {
        std::array<MPI_Request, 2> requests{};
        MPI_Irecv(other.data(), count, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, requests.data());
        MPI_Isend(x.to_local().data(), count, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      });
}

void add(const std::string& name, const Benchmark& run) {
  perf::add(name, run, benchmark::kMillisecond);
}

void add_all() {
  add("float64->float32", narrowed);
  add("float32->float64", widened);
  add("alpha", [](auto& state) { scaled(state, {.alpha = 2}); });
  add("alpha_beta", [](auto& state) { scaled(state, {.alpha = 2, .beta = 0.5}); });
  if (has_costa) {
    add("costa/plain", [](auto& state) { scaled_by_costa(state, 1, 0); });
    add("costa/alpha", [](auto& state) { scaled_by_costa(state, 2, 0); });
    add("costa/alpha_beta", [](auto& state) { scaled_by_costa(state, 2, 0.5); });
  }
  add("transposing", transposing);
  for (const std::int64_t kib : {64, 1024, 16384})
    if (8 * edge >= kib)
      add("fetch/" + std::to_string(kib) + "KiB",
          [kib](auto& state) { fetched(state, kib << 10); });
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  using namespace tessera;
  const ScopeGuard guard(argc, argv);
  std::vector<char*> arguments(argv, argv + argc);
  if (perf::take_brief(arguments)) perf::edge = 256;
  perf::add_all();
  return perf::run_benchmarks(static_cast<int>(arguments.size()), arguments.data(),
                              perf::world().rank());
}
