// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**>;
using Vector = Kokkos::View<double*>;

namespace {

using docs::check;
using docs::on_host;

DeviceMesh make_grid() {
  int ranks = 0;
  int sizes[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, sizes);  // 4 ranks: 2 by 2
  auto grid = init_device_mesh(MPI_COMM_WORLD, {sizes[0], sizes[1]}, {"y", "x"});
  check(grid.ndim() == 2 && grid.size() == ranks, "all ranks are on the grid");
  return grid;
}

void meshes(const DeviceMesh& grid) {
  const int rank = grid.rank();                // row-major position, from 0
  const auto coordinate = *grid.coordinate();  // of this rank: (rank / 2, rank % 2)
  const auto row = grid["x"];                  // the ranks with my "y", a mesh of one dim
  const auto line = grid.flatten({"y", "x"}, "all");
  check(coordinate[0] == rank / grid.size("x") && coordinate[1] == rank % grid.size("x"),
        "row-major");
  check(row.ndim() == 1 && row.size() == grid.size("x") && row.rank() == coordinate[1], "a row");
  check(line.size() == grid.size() && line.rank() == rank, "flattened");
}

void shards(const DeviceMesh& grid) {
  auto u = zeros<Matrix>(grid, {Shard(0), Shard(1)}, {10, 7});
  u.shape();          // (10, 7) on every rank
  u.local_shape();    // (5, 4), (5, 3), (5, 4), (5, 3)
  u.global_offset();  // (0, 0), (0, 4), (5, 0), (5, 4)
  u.to_local();       // a Kokkos::View<double**> of the local shape
  check(u.shape() == Extents{10, 7}, "the global shape");
  check(u.to_local().extent(0) == static_cast<std::size_t>(u.local_shape()[0]), "the local shape");
  if (grid.size() == 4) {
    const auto down = *grid.coordinate();
    check(u.local_shape() == Extents{5, down[1] == 0 ? 4 : 3}, "the local shapes listed");
    check(u.global_offset() == Extents{5 * down[0], 4 * down[1]}, "the offsets listed");
  }
}

void ways_to_make_one(const DeviceMesh& mesh) {
  using Index = Kokkos::Array<std::int64_t, 2>;
  auto a = from_function<Matrix>(
      mesh, {Shard(0)}, {10, 7},
      KOKKOS_LAMBDA(const Index& i) { return double(100 * i[0] + i[1]); });
  auto b = rand<Matrix>(mesh, {Shard(0)}, {10, 7}, {.seed = 42});

  Matrix all;  // is looked at on rank 0 only
  if (mesh.rank() == 0) all = Matrix("all", 10, 7);
  auto c = distribute_tensor(all, mesh, {Shard(0)});

  Matrix mine("mine", 3 + mesh.rank(), 7);  // 3, 4, 5, 6 rows
  auto d = from_local(mine, mesh, {Shard(0)});

  if (a.local_shape()[0] > 0)
    check(on_host(a.to_local())(0, 3) == 100.0 * static_cast<double>(a.global_offset()[0]) + 3,
          "indices are global");
  check(b.shape() == a.shape() && c.shape() == a.shape() && c.spec() == a.spec(), "shapes");
  check(d.extent(0) == mesh.size() * 3 + mesh.size() * (mesh.size() - 1) / 2, "3 + 4 + 5 + 6 rows");
  check(d.to_local().data() == mine.data(), "from_local keeps the View");
}

Vector multiply(Matrix a, Vector x) {
  Vector y("y", a.extent(0));
  Kokkos::parallel_for(
      a.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 0; j < a.extent(1); ++j) y(i) += a(i, j) * x(j);
      });
  return y;
}

void products(const DeviceMesh& mesh) {
  auto by_rows = local_map(multiply, {Shard(0)}, {{Shard(0)}, {Replicate()}});
  auto a = rand<Matrix>(mesh, {Shard(0)}, {1000, 300});
  auto x = rand<Vector>(mesh, {Replicate()}, {300}, {.stream = 1});
  auto y = by_rows(a, x);  // [S(0)], shape (1000)

  auto by_columns = local_map(multiply, {Partial()}, {{Shard(1)}, {Shard(0)}});
  auto partial = by_columns(redistribute(a, {Shard(1)}), redistribute(x, {Shard(0)}));
  auto sum = reduce_partial(partial);  // [R]: every rank has y

  check(y.shape() == Extents{1000} && y.placements() == Placements{Shard(0)}, "y by rows");
  check(partial.placements() == Placements{Partial()}, "partial");
  check(sum.placements().is_all_replicate(), "the sum");
  const auto first = on_host(full_tensor(y));
  const auto second = on_host(sum.to_local());
  for (std::size_t i = 0; i < 1000; ++i)
    check(std::abs(first(i) - second(i)) < 1e-10, "both ways give one product");
}

void mistakes(const DeviceMesh& mesh) {
  auto by_columns = local_map(multiply, {Partial()}, {{Shard(1)}, {Shard(0)}});
  auto a = rand<Matrix>(mesh, {Shard(0)}, {100, 30});
  auto x = rand<Vector>(mesh, {Shard(0)}, {30}, {.stream = 1});
  std::string text;
  try {
    by_columns(a, x);
  } catch (const PlacementMismatch& error) {  // on every rank
    text = error.what();
  }
  LocalMapOptions options{.redistribute_inputs = true};
  auto moving = local_map(multiply, {Partial()}, {{Shard(1)}, {Shard(0)}}, options);
  auto partial = moving(a, x);  // a goes to [S(1)] first
  check(docs::contains(text, "set redistribute_inputs=true"), "the message");
  check(partial.shape() == Extents{100}, "the next call");
}

void scale(Matrix piece, double factor) {
  Kokkos::parallel_for(
      piece.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 0; j < piece.extent(1); ++j) piece(i, j) *= factor;
      });
}

std::pair<Vector, std::size_t> first_column(Matrix piece) {
  Vector column("column", piece.extent(0));
  Kokkos::deep_copy(column, Kokkos::subview(piece, Kokkos::ALL, 0));
  return {column, piece.extent(0)};
}

Matrix copy_of(Matrix piece) {
  Matrix copy("copy", piece.extent(0), piece.extent(1));
  Kokkos::deep_copy(copy, piece);
  return copy;
}

void outputs(const DeviceMesh& mesh) {
  manual_seed(mesh, 1);
  auto a = rand<Matrix>(mesh, {Shard(0)}, {1000, 300});
  local_map(scale, none)(a, 2.0);                  // writes into its piece, returns nothing
  auto b = local_map(copy_of, like_input(0))(a);   // split like argument 0
  auto outs = std::tuple(even({Shard(0)}), none);  // a View of as many rows everywhere, a number
  auto [column, rows] = local_map(first_column, outs)(rand<Matrix>(mesh, {Shard(0)}, {12, 3}));

  check(b.spec() == a.spec(), "like input 0");
  check(column.shape() == Extents{12} && rows == static_cast<std::size_t>(12 / mesh.size()),
        "even");
  manual_seed(mesh, 1);
  const auto once = rand<Matrix>(mesh, {Shard(0)}, {1000, 300});
  check(on_host(a.to_local())(0, 0) == 2 * on_host(once.to_local())(0, 0), "scaled in place");
}

Vector normalise(const DeviceMesh& mesh, Vector piece) {
  double mine = 0;
  Kokkos::parallel_reduce(
      piece.extent(0), KOKKOS_LAMBDA(std::size_t i, double& sum) { sum += piece(i) * piece(i); },
      mine);
  Kokkos::View<double> square("square");
  Kokkos::deep_copy(square, mine);
  auto total = all_reduce(square, ReduceOp::sum, mesh, 0);  // over mesh dim 0
  Vector result("result", piece.extent(0));
  Kokkos::parallel_for(
      piece.extent(0),
      KOKKOS_LAMBDA(std::size_t i) { result(i) = piece(i) / Kokkos::sqrt(total()); });
  return result;
}

void collectives_inside(const DeviceMesh& mesh) {
  auto v = rand<Vector>(mesh, {Shard(0)}, {1000});
  auto unit = local_map(normalise, like_input(1))(mesh, v);  // the mesh is argument 0

  const auto host = on_host(full_tensor(unit));
  double square = 0;
  for (std::size_t i = 0; i < 1000; ++i) square += host(i) * host(i);
  check(std::abs(square - 1) < 1e-12, "of length 1");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto grid = make_grid();
  meshes(grid);
  shards(grid);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  ways_to_make_one(mesh);
  products(mesh);
  mistakes(mesh);
  outputs(mesh);
  collectives_inside(mesh);
  return docs::status();
}
