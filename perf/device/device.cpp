// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures what it costs to move data in the memory of Kokkos' default execution space, which is
// device memory if Kokkos has a device. On one rank it compares the library's kernels with a bare
// copy of as many bytes; on several ranks it compares redistribute with the same exchange written
// by hand.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../../unit_tests/support/kokkos_events.hpp"
#include "../in_turns.hpp"
#include "kernels/pack.hpp"

namespace tessera::perf {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
using Rows = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// Copies the columns of `full` from `first` on into `part`.
struct PackColumns {
  Matrix full;
  Matrix part;
  std::int64_t first;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto columns = static_cast<std::int64_t>(part.extent(1));
    const auto row = i / columns;
    const auto column = i % columns;
    part(row, column) = full(row, first + column);
  }
};

struct Double {
  Matrix to;
  Matrix from;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to.data()[i] = 2 * from.data()[i]; }
};

struct Doubled {
  Matrix to;
  Matrix operator()(const Matrix& from) const {
    Kokkos::parallel_for("double", Rows(Exec(), 0, static_cast<std::int64_t>(from.size())),
                         Double{to, from});
    return to;
  }
};

namespace {

std::int64_t edge = 8192;  // length of a side of the matrices, doubles

/// Reports `seconds`, the time of `call`, and runs `call` once more to count its launches.
void report_counts(benchmark::State& state, double seconds, const std::function<void()>& call) {
  const test::RecordedEvents seen;
  call();
  const auto count = [](const auto& events) { return static_cast<double>(events.size()); };
  state.SetIterationTime(seconds);
  state.counters["kernels"] = count(seen->kernels);
  state.counters["fences"] = count(seen->fences);
  state.counters["copies"] = count(seen->copies);
  state.counters["allocations"] = count(seen->allocations);
}

/// Reports the throughput of the library and of the other way to do the same, and the launches of
/// `call`.
void report(benchmark::State& state, const Pair& took, double bytes,
            const std::function<void()>& call) {
  constexpr double giga = 1e-9;
  report_counts(state, took.ours, call);
  state.counters["GB/s"] = giga * bytes / took.ours;
  state.counters["other_GB/s"] = giga * bytes / took.other;
  state.counters["of_other"] = took.other / took.ours;
}

/// Compares a kernel of the library with a bare copy; each reads and writes `bytes` in total.
void beside_copy(benchmark::State& state, std::int64_t bytes, const std::function<void()>& kernel) {
  const auto half = static_cast<std::size_t>(bytes / 2);
  const Kokkos::View<char*, Memory> from("from", half);
  const Kokkos::View<char*, Memory> to("to", half);
  const auto took = in_turns(kernel, [&] { Kokkos::deep_copy(Exec(), to, from); });
  report(state, took, static_cast<double>(bytes), kernel);
}

/// Measures the copy of a matrix with rows of `row_bytes`. If `packs`, it is the right half of a
/// source that is twice as wide; if `unpacks`, the right half of such a target.
void columns(benchmark::State& state, std::int64_t row_bytes, bool packs, bool unpacks) {
  const auto width = row_bytes / static_cast<std::int64_t>(sizeof(double));
  const auto rows = edge * edge / width;
  const auto matrix = [&](std::int64_t across) {
    return Matrix("matrix", static_cast<std::size_t>(rows), static_cast<std::size_t>(across));
  };
  const auto from = matrix(packs ? 2 * width : width);
  const auto to = matrix(unpacks ? 2 * width : width);
  const Extents shape{rows, width};
  const detail::CopyJob job{array_ref(from).part({0, packs ? width : 0}, shape),
                            array_ref(to).part({0, unpacks ? width : 0}, shape)};
  beside_copy(state, 2 * job.source.bytes(), [&] { detail::copy(Execution(Exec()), job); });
}

void transposed(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(edge);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Memory> from("from", size, size);
  const Matrix to("to", size, size);
  const detail::CopyJob job{array_ref(from), array_ref(to)};
  beside_copy(state, 2 * job.source.bytes(), [&] { detail::copy(Execution(Exec()), job); });
}

void reduced(benchmark::State& state, int operands) {
  const auto size = static_cast<std::size_t>(edge);
  std::vector<Matrix> views;
  std::vector<ArrayRef> refs;
  for (int t = 0; t <= operands; ++t) {
    views.emplace_back("operand", size, size / 4);
    refs.push_back(array_ref(views.back()));
  }
  const auto to = refs.back();
  refs.pop_back();
  beside_copy(state, (operands + 1) * to.bytes(),
              [&] { detail::reduce(Execution(Exec()), ReduceOp::sum, refs, to, 1); });
}

void locally_mapped(benchmark::State& state) {
  const auto tensor = ones<Matrix>(world(), {Shard(0)}, {edge, edge});
  const auto from = tensor.to_local();
  const Doubled doubled{Matrix("to", from.extent(0), from.extent(1))};
  const auto mapped = local_map(doubled, {Placements{Shard(0)}});
  const auto call = [&] { mapped(tensor); };
  const auto took = in_turns(call, [&] { doubled(from); });
  report(state, took, 16.0 * static_cast<double>(from.size()), call);
}

/// Redistributes a matrix from Shard(0) to Shard(1), where the number of ranks divides the sides of
/// the matrix. Kernels pack, copies go to host memory and back, and MPI exchanges the data there.
/// What arrives needs no unpacking.
class ByHand {
 public:
  ByHand(const Matrix& from, const Matrix& to)
      : from_(from),
        to_(to),
        packed_("packed", to.extent(0), to.extent(1)),
        sent_("sent", to.extent(0), to.extent(1)),
        received_("received", to.extent(0), to.extent(1)) {}

  void operator()() const {
    const auto block = static_cast<std::int64_t>(from_.extent(0) * to_.extent(1));
    const auto columns = static_cast<std::int64_t>(to_.extent(1));
    for (int r = 0; r < world().size(); ++r) {
      const Matrix part(packed_.data() + r * block, from_.extent(0), to_.extent(1));
      Kokkos::parallel_for("pack", Rows(Exec(), 0, block), PackColumns{from_, part, columns * r});
    }
    Kokkos::deep_copy(Exec(), sent_, packed_);
    Exec().fence();
    const auto count = static_cast<int>(block);
    MPI_Alltoall(sent_.data(), count, MPI_DOUBLE, received_.data(), count, MPI_DOUBLE,
                 MPI_COMM_WORLD);
    Kokkos::deep_copy(Exec(), to_, received_);
    Exec().fence();
  }

 private:
  using Staged = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace>;

  Matrix from_, to_, packed_;
  Staged sent_, received_;
};

void rows_to_columns(benchmark::State& state) {
  const auto edge_of_all = edge / 2;
  if (edge_of_all % world().size() != 0) {
    state.SkipWithError("expected a number of ranks that divides the edge of the matrix");
    return;
  }
  const auto source = ones<Matrix>(world(), {Shard(0)}, {edge_of_all, edge_of_all});
  const auto target = empty<Matrix>(world(), {Shard(1)}, source.shape());
  const ByHand by_hand(source.to_local(),
                       empty<Matrix>(world(), {Shard(1)}, source.shape()).to_local());
  const auto call = [&] { redistribute_into(target, source); };
  const auto took = in_turns(call, by_hand);
  report(state, took, 16.0 * static_cast<double>(source.to_local().size()), call);
}

void small_exchange(benchmark::State& state, const Placement& from, const Placement& to) {
  const auto source = from_local(
      ones<Matrix>(world(), {Shard(0)}, {4 * world().size(), 4}).to_local(), world(), {from});
  const auto target = empty<Matrix>(world(), {to}, source.shape());
  const Exec exec;
  const auto call = [&] { redistribute_into(exec, target, source); };
  report_counts(state, in_turns(call, [] {}).ours, call);
}

void add(const std::string& name, const Benchmark& run) {
  perf::add(name, run, benchmark::kMicrosecond);
}

void add_kernels() {
  for (const std::int64_t row : {8, 32, 64, 512, 4096})
    add("pack/" + std::to_string(row), [row](auto& state) { columns(state, row, true, false); });
  for (const std::int64_t row : {32, 512, 4096})
    add("unpack/" + std::to_string(row), [row](auto& state) { columns(state, row, false, true); });
  for (const std::int64_t row : {32, 512, 4096})
    add("own/" + std::to_string(row), [row](auto& state) { columns(state, row, true, true); });
  add("dense", [](auto& state) { columns(state, 4096, false, false); });
  add("transpose", transposed);
  for (const int operands : {2, 4, 8})
    add("reduce/" + std::to_string(operands),
        [operands](auto& state) { reduced(state, operands); });
}

void add_calls() {
  add("local_map", locally_mapped);
  add("S0->S1", rows_to_columns);
  add("small/S0->S1", [](auto& state) { small_exchange(state, Shard(0), Shard(1)); });
  add("small/S0->R", [](auto& state) { small_exchange(state, Shard(0), Replicate()); });
  add("small/P->R", [](auto& state) { small_exchange(state, Partial(), Replicate()); });
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  using namespace tessera;
  const ScopeGuard guard(argc, argv);
  std::vector<char*> arguments(argv, argv + argc);
  perf::rounds = 9;
  if (perf::take_brief(arguments)) perf::edge = 256;
  if (perf::world().size() == 1) perf::add_kernels();
  perf::add_calls();
  return perf::run_benchmarks(static_cast<int>(arguments.size()), arguments.data(),
                              perf::world().rank());
}
