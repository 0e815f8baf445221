// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

#include "check.hpp"
using namespace tessera;

namespace {

using docs::check;
using docs::on_host;

/// As ScaLAPACK's, with the first block on process 0.
std::int64_t numroc(std::int64_t extent, std::int64_t block, std::int64_t process,
                    std::int64_t processes) {
  const auto blocks = extent / block;
  const auto extra = blocks % processes;
  const auto rest = process < extra ? block : process == extra ? extent % block : 0;
  return blocks / processes * block + rest;
}

DeviceMesh make_grid() {
  int ranks = 0;
  int sizes[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, sizes);
  return init_device_mesh(MPI_COMM_WORLD, {sizes[0], sizes[1]});
}

void descriptors(const DeviceMesh& grid) {
  using Columns = Kokkos::View<double**, Kokkos::LayoutLeft>;  // as Fortran has it
  auto a = rand<Columns>(grid, {Shard(0), Shard(1)}, {1000, 601});
  const auto mb = (a.extent(0) + grid.size(0) - 1) / grid.size(0);  // MB and NB of the descriptor
  const auto nb = (a.extent(1) + grid.size(1) - 1) / grid.size(1);
  const auto lld = a.to_local().stride(1);  // its LLD
  for (int rank = 0; rank < grid.size(); ++rank) {
    const auto at = grid.layout().coordinate(rank);
    check(a.spec().local_shape(rank)[0] == numroc(1000, mb, at[0], grid.size(0)), "rows");
    check(a.spec().local_shape(rank)[1] == numroc(601, nb, at[1], grid.size(1)), "columns");
  }
  check(static_cast<std::int64_t>(lld) >= a.local_shape()[0], "a leading dimension");
}

void cyclic(const DeviceMesh& grid) {
  using Columns = Kokkos::View<double**, Kokkos::LayoutLeft>;
  auto blocks = rand<Columns>(grid, {Cyclic(0, 64), Cyclic(1, 64)}, {1000, 601});  // MB = NB = 64
  auto chunks = redistribute(blocks, {Shard(0), Shard(1)});
  for (int rank = 0; rank < grid.size(); ++rank) {
    const auto at = grid.layout().coordinate(rank);
    check(blocks.spec().local_shape(rank)[0] == numroc(1000, 64, at[0], grid.size(0)), "rows");
    check(blocks.spec().local_shape(rank)[1] == numroc(601, 64, at[1], grid.size(1)), "columns");
  }
  const auto again = redistribute(chunks, blocks.spec());
  const auto a = on_host(blocks.to_local());
  const auto b = on_host(again.to_local());
  bool are_equal = true;
  for (std::size_t i = 0; i < a.extent(0); ++i)
    for (std::size_t j = 0; j < a.extent(1); ++j) are_equal = are_equal && a(i, j) == b(i, j);
  check(are_equal, "there and back");
  const int context = 0;
  const auto desc = descriptor(blocks, context);  // DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD
  const auto same = spec_of(desc, grid);          // that of blocks
  check(desc[2] == 1000 && desc[5] == 64 && same == blocks.spec(), "a descriptor");
}

void scaled(const DeviceMesh& grid) {
  using Columns = Kokkos::View<double**, Kokkos::LayoutLeft>;
  auto a = ones<Columns>(grid, {Cyclic(0, 8), Cyclic(1, 8)}, {40, 30});
  auto b = ones<Columns>(grid, {Shard(0), Shard(1)}, {30, 40});
  redistribute_into(b, transpose(a), {.alpha = 2, .beta = 1});  // B = 2 A^T + B
  check(on_host(full_tensor(b))(29, 39) == 3, "scaled");
}

using Field = Kokkos::View<double***, Kokkos::LayoutRight>;

Field transform_last_dim(Field u) {  // stands for a 1-d transform of your FFT library
  Kokkos::parallel_for(
      u.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 0; j < u.extent(1); ++j)
          for (std::size_t k = 1; k < u.extent(2); ++k) u(i, j, k) += u(i, j, k - 1);
      });
  return u;
}

Field transform_dim_1(Field u) {
  Kokkos::parallel_for(
      u.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 1; j < u.extent(1); ++j)
          for (std::size_t k = 0; k < u.extent(2); ++k) u(i, j, k) += u(i, j - 1, k);
      });
  return u;
}

Field transform_dim_0(Field u) {
  Kokkos::parallel_for(
      u.extent(2), KOKKOS_LAMBDA(std::size_t k) {
        for (std::size_t i = 1; i < u.extent(0); ++i)
          for (std::size_t j = 0; j < u.extent(1); ++j) u(i, j, k) += u(i - 1, j, k);
      });
  return u;
}

void pencils(const DeviceMesh& grid) {
  auto u = full<Field>(grid, {Shard(0), Shard(1)}, {16, 12, 10}, 1.0);
  u = local_map(transform_last_dim, like_input(0))(u);
  u = redistribute(u, {Shard(0), Shard(2)});  // an exchange among the ranks of a grid row
  u = local_map(transform_dim_1, like_input(0))(u);
  u = redistribute(u, {Shard(1), Shard(2)});  // and of a grid column
  u = local_map(transform_dim_0, like_input(0))(u);
  const auto host = on_host(full_tensor(u));
  check(host(15, 11, 9) == 16 * 12 * 10 && host(1, 2, 3) == 2 * 3 * 4, "sums over boxes");
}

void boxes(const DeviceMesh& grid) {
  auto u = empty<Field>(grid, {Shard(0), Shard(1)}, {16, 12, 10});
  const Box mine = u.spec().piece(*grid.coordinate());  // offset and shape
  check(mine.offset == u.global_offset() && mine.shape == u.local_shape(), "the box of this rank");
}

using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft>;

void vectors(const DeviceMesh& mesh) {
  const auto rows = 100 + 10 * static_cast<std::size_t>(mesh.rank());
  auto x = from_local(Vectors("x", rows, 3), mesh, {Shard(0)});  // any number of rows on each rank
  Kokkos::deep_copy(x.to_local(), 1.0);
  auto products = reduce_partial(ops::sum(x * x, 0));  // one for each column
  auto even = redistribute(x, DTensorSpec(mesh.layout(), {Shard(0)}, x.shape()));
  check(on_host(products.to_local())(2) == static_cast<double>(x.extent(0)), "dot products");
  check(std::abs(item(ops::norm(x)) - std::sqrt(item(ops::sum(products)))) < 1e-12, "the norm");
  check(even.spec().boundaries() == DTensorSpec(mesh.layout(), {Shard(0)}, x.shape()).boundaries(),
        "the chunk rule");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto grid = make_grid();
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  descriptors(grid);
  cyclic(grid);
  scaled(grid);
  pencils(grid);
  boxes(grid);
  vectors(mesh);
  return docs::status();
}
