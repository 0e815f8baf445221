// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <tessera/tessera.hpp>
using namespace tessera;
using Matrix = Kokkos::View<double**>;

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);                                    // MPI and Kokkos
  auto mesh = init_device_mesh(MPI_COMM_WORLD, {DeviceMesh::from_comm(MPI_COMM_WORLD).size()}, {"dp"});
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 8}, {.seed = 42});   // by rows; the same numbers on any mesh

  auto column_sums = local_map(
      [](Matrix rows) {                                            // sees this rank's rows only
        Kokkos::View<double*> sums("sums", rows.extent(1));
        Kokkos::parallel_for(rows.extent(1), KOKKOS_LAMBDA(int j) {
          for (std::size_t i = 0; i < rows.extent(0); ++i) sums(j) += rows(i, j);
        });
        return sums;
      },
      {Partial()});                                                // out: a term of a sum on every rank

  auto sums = full_tensor(column_sums(x));                         // reduced: the same bits everywhere
  auto columns = redistribute(x, {Shard(1)});                      // by columns instead: one exchange
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  if (mesh.rank() == 0) std::printf("mean of column 0: %f\n", host(0) / 1000);
  std::printf("rank %d holds columns %s\n", mesh.rank(), to_string(columns.local_shape()).c_str());
}
