// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Meshes, tensors and calls that nobody waited for live on in static storage, whoever finalises
// what first: exit status 0, and nothing is written. The first argument is guard, mpi_first or
// kokkos_first, followed by +large for messages that travel only when their receiver asks.
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <tessera/tessera.hpp>

#include "../support/tensors.hpp"

namespace {

using tessera::test::Matrix;
using Pending = tessera::Pending<Matrix>;

std::optional<Pending> constructed_first;
tessera::DeviceMesh mesh;
tessera::DeviceMesh part;
tessera::DTensor<Matrix> rows;
tessera::DTensor<Matrix> columns;
std::map<std::string, tessera::DeviceMesh> meshes;
std::vector<Pending> pending;

bool has(const std::string& mode, const char* word) {
  return mode.find(word) != std::string::npos;
}

bool work(bool is_large) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mesh = tessera::init_device_mesh(MPI_COMM_WORLD, {1, size}, {"a", "b"});
  part = mesh["b"];
  meshes["flat"] = mesh.flatten({"a", "b"}, "all");
  mesh.comm("b");
  rows = tessera::ones<Matrix>(mesh, {tessera::Replicate(), tessera::Shard(0)},
                               {8, is_large ? 100'000 : 3});
  columns = tessera::redistribute(rows, {tessera::Replicate(), tessera::Shard(1)});
  const auto local = rows.to_local();
  constructed_first.emplace(tessera::all_reduce_async(local, tessera::ReduceOp::sum, mesh, "b"));
  pending.push_back(tessera::all_gather_async(local, 0, mesh, "b"));
  pending.push_back(tessera::all_reduce_async(local, tessera::ReduceOp::max, part, 0));
  MPI_Comm user = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &user);
  meshes["never freed"] = tessera::init_device_mesh(user, {size});
  pending.push_back(
      tessera::all_reduce_async(local, tessera::ReduceOp::sum, meshes["never freed"], 0));
  return columns.shape()[0] == 8;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "guard";
  if (has(mode, "guard")) {
    const tessera::ScopeGuard guard(argc, argv);
    return work(has(mode, "large")) ? 0 : 1;
  }
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  const bool is_right = work(has(mode, "large"));
  if (has(mode, "mpi_first")) MPI_Finalize();
  Kokkos::finalize();
  if (!has(mode, "mpi_first")) MPI_Finalize();
  return is_right ? 0 : 1;
}
