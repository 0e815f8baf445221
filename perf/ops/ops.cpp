// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures operators, each beside a plain Kokkos kernel on the local shards in the same run, and what it
// costs to choose placements and to wrap a small result.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../in_turns.hpp"
#include "linear_algebra.hpp"

namespace tessera::perf {
namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
using Line = Kokkos::View<double*, Kokkos::LayoutRight>;
using Rows = Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>;

using detail::has_device;

std::int64_t edge = has_device ? 16384 : 4096;  // length of a side of the matrices

DTensor<Matrix> random_matrix(std::uint64_t seed) {
  return rand<Matrix>(world(), Shard(0), {edge, edge}, {.seed = seed});
}

/// Calls function(i, j) for all elements of this rank, on the host a row after another.
template <class Function>
void for_rows(const Matrix& view, const Function& function) {
  const auto rows = static_cast<std::int64_t>(view.extent(0));
  const auto columns = static_cast<std::int64_t>(view.extent(1));
  if constexpr (has_device)
    Kokkos::parallel_for("plain",
                         Kokkos::MDRangePolicy<Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>(
                             {0, 0}, {rows, columns}, {1, 256}),
                         function);
  else
    Kokkos::parallel_for(
        "plain", Rows(0, rows), KOKKOS_LAMBDA(std::int64_t i) {
          for (std::int64_t j = 0; j < columns; ++j) function(i, j);
        });
}

void added(benchmark::State& state) {
  const auto x = random_matrix(1), y = random_matrix(2);
  const auto a = x.to_local(), b = y.to_local();
  const auto c = empty_like(x).to_local();
  compare(
      state, [&] { const auto z = x + y; },
      [&] {
        for_rows(
            a, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { c(i, j) = a(i, j) + b(i, j); });
      });
}

void scaled(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto a = x.to_local(), c = empty_like(x).to_local();
  compare(
      state, [&] { const auto z = x * 2.5; },
      [&] {
        for_rows(
            a, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { c(i, j) = a(i, j) * 2.5; });
      });
}

void exponential(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto a = x.to_local(), c = empty_like(x).to_local();
  compare(
      state, [&] { const auto z = ops::exp(x); },
      [&] {
        for_rows(
            a, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { c(i, j) = Kokkos::exp(a(i, j)); });
      });
}

void row_added(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto row = rand<Line>(world(), Replicate(), {edge}, {.seed = 3});
  const auto a = x.to_local(), c = empty_like(x).to_local();
  const auto b = row.to_local();
  compare(
      state, [&] { const auto z = x + row; },
      [&] {
        for_rows(
            a, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { c(i, j) = a(i, j) + b(j); });
      });
}

void column_added(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto column = ops::sum(x, KeepDims{1});
  const auto a = x.to_local(), c = empty_like(x).to_local();
  const auto b = column.to_local();
  compare(
      state, [&] { const auto z = x + column; },
      [&] {
        for_rows(
            a, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { c(i, j) = a(i, j) + b(i, 0); });
      });
}

void changed(benchmark::State& state) {
  const auto x = random_matrix(1), y = zeros_like(x);
  const auto a = x.to_local(), b = y.to_local();
  compare(
      state, [&] { x += y; },
      [&] {
        for_rows(
            a, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { a(i, j) += b(i, j); });
      });
}

void mapped(benchmark::State& state) {
  const auto x = random_matrix(1), y = random_matrix(2), z = random_matrix(3);
  const auto a = x.to_local(), b = y.to_local(), d = z.to_local(), c = empty_like(x).to_local();
  compare(
      state,
      [&] {
        const auto w = map(
            KOKKOS_LAMBDA(double u, double v, double t) { return u + v * t; }, x, y, z);
      },
      [&] {
        for_rows(
            a, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
              c(i, j) = a(i, j) + b(i, j) * d(i, j);
            });
      });
}

void selected(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto larger = x > 0.5;
  const auto a = x.to_local(), c = empty_like(x).to_local();
  const auto m = larger.to_local();
  compare(
      state, [&] { const auto z = ops::where(larger, x, 0.0); },
      [&] {
        for_rows(
            a,
            KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { c(i, j) = m(i, j) ? a(i, j) : 0.0; });
      });
}

void sum_of_all(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto a = x.to_local();
  const auto size = static_cast<std::int64_t>(a.size());
  compare(
      state, [&] { const auto z = ops::sum(x); },
      [&] {
        double sum = 0;
        const auto* const data = a.data();
        Kokkos::parallel_reduce(
            "plain", Rows(0, size),
            KOKKOS_LAMBDA(std::int64_t i, double& part) { part += data[i]; }, sum);
        benchmark::DoNotOptimize(sum);
      });
}

void largest_of_all(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto a = x.to_local();
  const auto size = static_cast<std::int64_t>(a.size());
  compare(
      state, [&] { const auto z = ops::max(x); },
      [&] {
        double largest = 0;
        const auto* const data = a.data();
        Kokkos::parallel_reduce(
            "plain", Rows(0, size),
            KOKKOS_LAMBDA(std::int64_t i, double& part) { part = Kokkos::max(part, data[i]); },
            Kokkos::Max<double>(largest));
        benchmark::DoNotOptimize(largest);
      });
}

/// Writes the sum of each row. On a device a team of threads has a row, on the host a thread.
struct RowSums {
  Matrix from;
  Line to;

  using Team = Kokkos::TeamPolicy<>::member_type;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto i = static_cast<std::int64_t>(team.league_rank());
    const auto columns = static_cast<std::int64_t>(from.extent(1));
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, columns),
        [&](std::int64_t j, double& part) { part += from(i, j); }, sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { to(i) = sum; });
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = 0;
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(from.extent(1)); ++j) sum += from(i, j);
    to(i) = sum;
  }
};

/// Sums along dim 1: each row becomes a number.
void sums_of_rows(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto a = x.to_local();
  const Line sums("sums", a.extent(0));
  const auto rows = static_cast<int>(a.extent(0));
  compare(
      state, [&] { const auto z = ops::sum(x, 1); },
      [&] {
        if constexpr (has_device)
          Kokkos::parallel_for("plain", Kokkos::TeamPolicy<>(rows, 256), RowSums{a, sums});
        else
          Kokkos::parallel_for("plain", Rows(0, rows), RowSums{a, sums});
      });
}

/// Adds each column up, one thread for each.
struct ColumnSums {
  Matrix from;
  Line to;

  KOKKOS_FUNCTION void operator()(std::int64_t j) const {
    double sum = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(from.extent(0)); ++i) sum += from(i, j);
    to(j) = sum;
  }
};

/// Sums along dim 0: rows are added up.
void sum_of_rows(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto a = x.to_local();
  const Line sums("sums", a.extent(1));
  const auto rows = static_cast<std::int64_t>(a.extent(0));
  const auto columns = static_cast<std::int64_t>(a.extent(1));
  compare(
      state, [&] { const auto z = ops::sum(x, 0); },
      [&] {
        if constexpr (has_device) {
          Kokkos::parallel_for("plain", Rows(0, columns), ColumnSums{a, sums});
        } else {
          Kokkos::deep_copy(sums, 0.0);
          const auto* const from = a.data();
          auto* const to = sums.data();
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) to[j] += from[i * columns + j];
        }
      });
}

void position_of_largest(benchmark::State& state) {
  const auto x = random_matrix(1);
  const auto a = x.to_local();
  const auto size = static_cast<std::int64_t>(a.size());
  using Largest = Kokkos::MaxLoc<double, std::int64_t>;
  compare(
      state, [&] { const auto z = ops::argmax(x); },
      [&] {
        Largest::value_type largest;
        const auto* const data = a.data();
        Kokkos::parallel_reduce(
            "plain", Rows(0, size),
            KOKKOS_LAMBDA(std::int64_t i, Largest::value_type & part) {
              if (data[i] > part.val) part = {data[i], i};
            },
            Largest(largest));
        benchmark::DoNotOptimize(largest);
      });
}

/// Finds the largest element of each column, beside the largest elements alone.
void positions_in_columns(benchmark::State& state) {
  const auto x = random_matrix(1);
  compare(
      state, [&] { const auto z = ops::argmax(x, 0); }, [&] { const auto z = ops::max(x, 0); });
}

/// Adds tensors of 4 × 4 elements: what choosing a rule and wrapping the result cost.
void added_small(benchmark::State& state) {
  const auto x = ones<Matrix>(world(), Shard(0), {4, 4});
  const auto y = ones<Matrix>(world(), Shard(0), {4, 4});
  constexpr int calls = 10000;
  const auto took = in_turns(
      [&] {
        for (int i = 0; i < calls; ++i) benchmark::DoNotOptimize(x + y);
      },
      [] {});
  state.SetIterationTime(took.ours / calls);
  state.counters["us"] = 1e6 * took.ours / calls;
}

void add_all() {
  const auto add = [](const std::string& name, const Benchmark& run) {
    perf::add(name, run, benchmark::kMillisecond);
  };
  add("add", added);
  add("scale", scaled);
  add("exp", exponential);
  add("row_added", row_added);
  add("column_added", column_added);
  add("add_in_place", changed);
  add("map", mapped);
  add("where", selected);
  add("sum_all", sum_of_all);
  add("max_all", largest_of_all);
  add("argmax_all", position_of_largest);
  add("argmax_rows", positions_in_columns);
  add("sum_columns", sums_of_rows);
  add("sum_rows", sum_of_rows);
  perf::add("add_choice", added_small, benchmark::kMicrosecond);
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  using namespace tessera;
  const ScopeGuard guard(argc, argv);
  std::vector<char*> arguments(argv, argv + argc);
  const bool is_brief = perf::take_brief(arguments);
  if (is_brief) perf::edge = 256;
  perf::add_all();
  perf::add_linear_algebra(is_brief);
  return perf::run_benchmarks(static_cast<int>(arguments.size()), arguments.data(),
                              perf::world().rank());
}
