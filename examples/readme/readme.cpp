// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <tessera/tessera.hpp>
using namespace tessera;
using Field = Kokkos::View<double**>;

Field diffuse(Field u, int d) {  // an implicit step along dim d: dt / h^2 = 100, cold outside
  Field c("c", u.extent(0), u.extent(1)), v("v", u.extent(0), u.extent(1));
  Kokkos::parallel_for(
      u.extent(1 - d), KOKKOS_LAMBDA(int line) {  // a tridiagonal system per line
        auto at = [=](const Field& f, int k) -> double& { return d ? f(line, k) : f(k, line); };
        for (int k = 0; k < u.extent_int(d); ++k) {
          at(c, k) = 1 / (2.01 - (k > 0 ? at(c, k - 1) : 0));
          at(v, k) = at(c, k) * (0.01 * at(u, k) + (k > 0 ? at(v, k - 1) : 0));
        }
        for (int k = u.extent_int(d) - 2; k >= 0; --k) at(v, k) += at(c, k) * at(v, k + 1);
      });
  return v;
}

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);  // MPI and Kokkos
  auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  auto u = ones<Field>(mesh, {Shard(0)}, {512, 512});  // a hot plate with cold edges, by rows
  for (int step = 0; step < 100; ++step) {
    u = local_map(diffuse, {Shard(0)})(u, 1);  // rows are whole on a rank: solve along dim 1
    u = redistribute(u, {Shard(1)});           // the ranks exchange blocks
    u = local_map(diffuse, {Shard(1)})(u, 0);  // columns are whole: solve along dim 0
    u = redistribute(u, {Shard(0)});
  }
  auto plate = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), full_tensor(u));
  if (mesh.rank() == 0) std::printf("temperature in the middle: %.6f\n", plate(256, 256));
}
