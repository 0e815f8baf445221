// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <tessera/tessera.hpp>
using namespace tessera;
using Matrix = Kokkos::View<double**>;

Kokkos::View<double*> column_sums(Matrix rows) {  // sees the rows of one rank
  Kokkos::View<double*> sums("sums", rows.extent(1));
  Kokkos::parallel_for(
      rows.extent(1), KOKKOS_LAMBDA(std::size_t j) {
        for (std::size_t i = 0; i < rows.extent(0); ++i) sums(j) += rows(i, j);
      });
  return sums;
}

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);  // MPI and Kokkos
  auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 8}, {.seed = 42});  // the same on any mesh
  auto sums = local_map(column_sums, {Partial()})(x);                // a term of a sum everywhere
  auto total = full_tensor(sums);                                    // reduced, bit for bit alike
  auto columns = redistribute(x, {Shard(1)});                        // by columns: one exchange
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), total);
  if (mesh.rank() == 0) std::printf("mean of column 0: %f\n", host(0) / 1000);
  std::printf("rank %d: %s\n", mesh.rank(), to_string(columns.local_shape()).c_str());
}
