// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures products of matrices, softmax, running sums and take on the host, each beside the BLAS,
// ScaLAPACK or plain loops on the local shards in the same run. The loops have one thread:
// OMP_NUM_THREADS=1 gives the operators and the BLAS one, too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../in_turns.hpp"
#include "linear_algebra.hpp"
#include "peers.hpp"

namespace tessera::perf {
namespace {

using Integers = Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Indices = Kokkos::View<std::int64_t*, Kokkos::LayoutRight, Kokkos::HostSpace>;
using HostRange =
    Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>;

std::int64_t longest = 1 << 20;  // largest extent of a tensor

std::int64_t shortened(std::int64_t extent) {
  return std::min(extent, longest);
}

template <class View>
KOKKOS_FUNCTION std::int64_t extent(const View& view, int dim) {
  return static_cast<std::int64_t>(view.extent(dim));
}

template <class V>
DTensor<V> random_square(const Target& target, std::int64_t edge, std::uint64_t seed) {
  return rand<V>(world(), target, {edge, edge}, {.seed = seed});
}

/// Multiplies matrices of which nothing travels, beside one call of the BLAS.
template <class V>
void multiplied(benchmark::State& state, const Target& of_a, const Target& of_b) {
  const auto edge = shortened(2048);
  const auto x = random_square<V>(of_a, edge, 1), y = random_square<V>(of_b, edge, 2);
  const auto a = x.to_local(), b = y.to_local();
  const V c("c", a.extent(0), b.extent(1));
  compare(
      state, [&] { const auto z = ops::matmul(x, y); }, [&] { multiply_by_blas(a, b, c); });
}

void multiplied_by_vector(benchmark::State& state) {
  const auto edge = shortened(4096);
  const auto x = random_square<RowMajor>(Shard(0), edge, 1);
  const auto y = rand<Vector>(world(), Replicate(), {edge}, {.seed = 2});
  const auto a = x.to_local();
  const auto b = y.to_local();
  const Vector c("c", a.extent(0));
  compare(
      state, [&] { const auto z = ops::matmul(x, y); }, [&] { multiply_by_blas(a, b, c); });
}

struct SmallInteger {
  KOKKOS_FUNCTION std::int64_t operator()(Kokkos::Array<std::int64_t, 2> index) const {
    return (7 * index[0] + 3 * index[1]) % 16 - 8;
  }
};

/// Sets c = a b; the inner loop runs over a row of b and of c.
void multiply_by_loops(const Integers& a, const Integers& b, const Integers& c) {
  const auto rows = extent(c, 0), columns = extent(c, 1), summed = extent(a, 1);
  std::fill_n(c.data(), rows * columns, 0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < summed; ++k) {
      const auto factor = a(i, k);
      const auto* const from = b.data() + k * columns;
      auto* const to = c.data() + i * columns;
      for (std::int64_t j = 0; j < columns; ++j) to[j] += factor * from[j];
    }
}

void multiplied_integers(benchmark::State& state) {
  const auto edge = shortened(512);
  const auto x = from_function<Integers>(world(), Shard(0), {edge, edge}, SmallInteger());
  const auto y = from_function<Integers>(world(), Replicate(), {edge, edge}, SmallInteger());
  const auto a = x.to_local(), b = y.to_local();
  const Integers c("c", a.extent(0), b.extent(1));
  compare(
      state, [&] { const auto z = ops::matmul(x, y); }, [&] { multiply_by_loops(a, b, c); });
}

/// Returns the mesh of all ranks with 2 rows.
const DeviceMesh& grid() {
  static const auto mesh = [] {
    int sizes[2] = {0, 0};
    MPI_Dims_create(world().size(), 2, sizes);
    return init_device_mesh(MPI_COMM_WORLD, {sizes[0], sizes[1]});
  }();
  return mesh;
}

/// Runs a call of the library, and returns what this rank receives in it.
Received received_by_us(const std::function<void()>& call) {
  Received result;
  const TraceScope scope([&](const TraceEvent& event) {
    if (event.kind != TraceKind::exchange) return;
    result.bytes += event.bytes_received;
    result.messages += event.messages_received;
  });
  call();
  return result;
}

/// Returns the most bytes, and the most messages, that a rank receives.
Received most_of_all(Received mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine.bytes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &mine.messages, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

/// Returns the bytes that the busiest rank must receive at least: what it lacks of the rows of a and the
/// columns of b that its part of the product depends on.
std::int64_t least_received(const DTensorSpec& a, const DTensorSpec& b) {
  std::int64_t most = 0;
  for (int rank = 0; rank < a.layout().size(); ++rank) {
    const auto of_a = a.local_shape(rank), of_b = b.local_shape(rank);
    const auto lacks_a = of_a[0] * (a.shape()[1] - of_a[1]);
    const auto lacks_b = of_b[1] * (b.shape()[0] - of_b[0]);
    most = std::max(most, lacks_a + lacks_b);
  }
  return most * std::int64_t{sizeof(double)};
}

/// Multiplies matrices on a grid, beside pdgemm of block-cyclic matrices. The counters say what the busiest
/// rank receives.
void multiplied_on_grid(benchmark::State& state, std::int64_t nominal, const Target& target) {
  const Target blocks{Cyclic(0, 64), Cyclic(1, 64)};
  const auto edge = shortened(nominal);
  const auto a = rand<ColumnMajor>(grid(), blocks, {edge, edge}, {.seed = 1});
  const auto b = rand<ColumnMajor>(grid(), blocks, {edge, edge}, {.seed = 2});
  const auto c = empty_like(a);
  const auto x = redistribute(a, target), y = redistribute(b, target);
  const auto ours = [&] { const auto z = ops::matmul(x, y); };
  const auto other = pdgemm(a, b, c);
  const auto by_us = most_of_all(received_by_us(ours));
  const auto by_other = most_of_all(received_by_scalapack(other));
  compare(state, ours, other);
  const auto set = [&](const char* name, std::int64_t value) {
    state.counters[name] = static_cast<double>(value);
  };
  set("bytes", by_us.bytes);
  set("messages", by_us.messages);
  set("other_bytes", by_other.bytes);
  set("other_messages", by_other.messages);
  set("least_bytes", least_received(x.spec(), y.spec()));
}

/// Finds the largest element of each row.
struct LargestOfRows {
  RowMajor from;
  Vector largest;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double most = from(i, 0);
    for (std::int64_t j = 1; j < extent(from, 1); ++j) most = Kokkos::max(most, from(i, j));
    largest(i) = most;
  }
};

/// Writes the exponentials of each row, and their sum.
struct ExponentialsOfRows {
  RowMajor from, to;
  Vector largest, sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double most = largest(i);
    double sum = 0;
    for (std::int64_t j = 0; j < extent(from, 1); ++j) {
      const double value = Kokkos::exp(from(i, j) - most);
      to(i, j) = value;
      sum += value;
    }
    sums(i) = sum;
  }
};

struct QuotientsOfRows {
  RowMajor to;
  Vector sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double factor = 1 / sums(i);
    for (std::int64_t j = 0; j < extent(to, 1); ++j) to(i, j) *= factor;
  }
};

/// Computes the softmax of each row, one row after another.
struct SoftmaxOfRows {
  LargestOfRows largest;
  ExponentialsOfRows exponentials;
  QuotientsOfRows quotients;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    largest(i);
    exponentials(i);
    quotients(i);
  }
};

void all_reduce_by_mpi(const Vector& values, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op,
                MPI_COMM_WORLD);
}

/// Computes the softmax of rows that lie on one rank (dim 0 is split), or on all of them (dim 1).
void softmax(benchmark::State& state, int split_dim) {
  const auto edge = shortened(4096);
  const auto x = random_square<RowMajor>(Shard(split_dim), edge, 1);
  const auto a = x.to_local();
  const RowMajor c("c", a.extent(0), a.extent(1));
  const Vector most("most", a.extent(0)), sums("sums", a.extent(0));
  const SoftmaxOfRows rows{{a, most}, {a, c, most, sums}, {c, sums}};
  const HostRange range(0, extent(a, 0));
  compare(
      state, [&] { const auto z = ops::softmax(x, 1); },
      [&] {
        if (split_dim == 0) {
          Kokkos::parallel_for("plain", range, rows);
          return;
        }
        Kokkos::parallel_for("plain", range, rows.largest);
        Kokkos::fence("plain");
        all_reduce_by_mpi(most, MPI_MAX);
        Kokkos::parallel_for("plain", range, rows.exponentials);
        Kokkos::fence("plain");
        all_reduce_by_mpi(sums, MPI_SUM);
        Kokkos::parallel_for("plain", range, rows.quotients);
      });
}

/// Sums along dim 0, which is split. The plain loops add up the columns of this rank; the sums of the ranks
/// before it are where its running sums start.
void cumulated_rows(benchmark::State& state) {
  const auto edge = shortened(4096);
  const auto x = random_square<RowMajor>(Shard(0), edge, 1);
  const auto a = x.to_local();
  const RowMajor c("c", a.extent(0), a.extent(1));
  const Vector columns("columns", a.extent(1)), sums("sums", a.extent(1));
  const auto* const from = a.data();
  auto *const to = c.data(), *const of_column = columns.data(), *const sum = sums.data();
  compare(
      state, [&] { const auto z = ops::cumsum(x, 0); },
      [&] {
        std::fill_n(of_column, edge, 0.0);
        std::fill_n(sum, edge, 0.0);  // rank 0 has no rank before it: MPI writes nothing there
        for (std::int64_t i = 0; i < extent(a, 0); ++i)
          for (std::int64_t j = 0; j < edge; ++j) of_column[j] += from[i * edge + j];
        MPI_Exscan(of_column, sum, static_cast<int>(edge), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (std::int64_t i = 0; i < extent(a, 0); ++i)
          for (std::int64_t j = 0; j < edge; ++j) {
            sum[j] += from[i * edge + j];
            to[i * edge + j] = sum[j];
          }
      });
}

/// Sums along dim 1, which is not split.
void cumulated_columns(benchmark::State& state) {
  const auto edge = shortened(4096);
  const auto x = random_square<RowMajor>(Shard(0), edge, 1);
  const auto a = x.to_local();
  const RowMajor c("c", a.extent(0), a.extent(1));
  const auto* const from = a.data();
  auto* const to = c.data();
  compare(
      state, [&] { const auto z = ops::cumsum(x, 1); },
      [&] {
        for (std::int64_t i = 0; i < extent(a, 0); ++i) {
          double sum = 0;
          for (std::int64_t j = 0; j < edge; ++j) {
            sum += from[i * edge + j];
            to[i * edge + j] = sum;
          }
        }
      });
}

/// Takes random rows of a table. Each rank computes all rows of the result; those that it does not have are
/// zeros.
void taken(benchmark::State& state, const Target& target) {
  const auto rows = shortened(65536), width = shortened(256);
  const auto table = rand<RowMajor>(world(), target, {rows, width}, {.seed = 1});
  const auto indices = empty<Indices>(world(), Replicate(), {rows});
  const auto a = table.to_local();
  const auto index = indices.to_local();
  std::mt19937_64 generator(1);
  std::uniform_int_distribution<std::int64_t> any_row(0, rows - 1);
  std::generate_n(index.data(), rows, [&] { return any_row(generator); });
  const auto& spec = table.spec();
  const auto first = spec.piece(spec.layout().coordinate(world().rank())).offset[0];
  const RowMajor c("c", index.extent(0), a.extent(1));
  const auto bytes = static_cast<std::size_t>(width) * sizeof(double);
  compare(
      state, [&] { const auto z = ops::take(table, indices); },
      [&] {
        for (std::int64_t i = 0; i < rows; ++i) {
          const auto row = index(i) - first;
          if (row >= 0 && row < extent(a, 0))
            std::memcpy(c.data() + i * width, a.data() + row * width, bytes);
          else
            std::memset(c.data() + i * width, 0, bytes);
        }
      });
}

void add(const std::string& name, const Benchmark& run) {
  perf::add(name, run, benchmark::kMillisecond);
}

template <class V>
void add_product(const std::string& name, const Target& of_a, const Target& of_b) {
  add(name, [of_a, of_b](auto& state) { multiplied<V>(state, of_a, of_b); });
}

void add_products_by_blas() {
  add_product<RowMajor>("matmul/S0*R", Shard(0), Replicate());
  add_product<RowMajor>("matmul/R*S1", Replicate(), Shard(1));
  add_product<RowMajor>("matmul/S1*S0", Shard(1), Shard(0));
  add_product<ColumnMajor>("matmul/S0*R/LayoutLeft", Shard(0), Replicate());
  add("matvec", multiplied_by_vector);
}

void add_products_on_grid() {
  for (const std::int64_t edge : {512, 2048}) {
    const auto add_with = [&](const std::string& name, const Target& target) {
      add("summa/" + std::to_string(edge) + "/" + name,
          [edge, target](auto& state) { multiplied_on_grid(state, edge, target); });
    };
    add_with("cyclic", {Cyclic(0, 64), Cyclic(1, 64)});
    add_with("shard", {Shard(0), Shard(1)});
  }
}

}  // namespace

void add_linear_algebra(bool is_brief) {
  if (is_brief) longest = 256;
  if (has_blas) add_products_by_blas();
  add("matmul_int64", multiplied_integers);
  if (has_scalapack && world().size() % 2 == 0) add_products_on_grid();
  add("softmax/S1", [](auto& state) { softmax(state, 1); });
  add("softmax/S0", [](auto& state) { softmax(state, 0); });
  add("cumsum_rows", cumulated_rows);
  add("cumsum_columns", cumulated_columns);
  add("take/R", [](auto& state) { taken(state, Replicate()); });
  add("take/S0", [](auto& state) { taken(state, Shard(0)); });
}

}  // namespace tessera::perf
