// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs cached redistributions of a small tensor, whose instructions scripts/tracing-cost counts.
#include <tessera/tessera.hpp>

using namespace tessera;
using Matrix = Kokkos::View<double**, Kokkos::HostSpace>;

[[gnu::noinline]] void measured(const DTensor<Matrix>& x) {
  for (int i = 0; i < 1000; ++i) redistribute(x, {Shard(1)});
}

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const auto x = ones<Matrix>(mesh, {Shard(0)}, {4, 4});
  redistribute(x, {Shard(1)});
  measured(x);
}
