// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Use after MPI_Finalize throws MpiError, and nothing crashes at exit although meshes and tensors
// still live in static storage.
#include <cstdio>
#include <functional>
#include <string>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <tessera/tessera.hpp>

namespace {

using Matrix = Kokkos::View<double**>;

tessera::DeviceMesh mesh;
tessera::DTensor<Matrix> rows;
tessera::DTensor<Matrix> columns;
int failures = 0;

void expect_mpi_error(const char* name, const std::function<void()>& call) {
  try {
    call();
    std::printf("%s: no error\n", name);
  } catch (const tessera::MpiError&) {
    return;
  } catch (const std::exception& error) {
    std::printf("%s: another error: %s\n", name, error.what());
  }
  ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_mpi_error("too high a thread level", [&] {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (provided == MPI_THREAD_MULTIPLE) throw tessera::MpiError("not to be had");
    tessera::ScopeGuard guard(argc, argv, {.thread_level = MPI_THREAD_MULTIPLE});
  });
  mesh = tessera::init_device_mesh(MPI_COMM_WORLD, {size}, {"x"});
  rows = tessera::zeros<Matrix>(mesh, {tessera::Shard(0)}, {4, 3});
  columns = tessera::redistribute(rows, {tessera::Shard(1)});
  mesh.comm("x");
  MPI_Finalize();

  expect_mpi_error("init_device_mesh", [] { tessera::init_device_mesh(MPI_COMM_WORLD, {1}); });
  expect_mpi_error("from_comm", [] { tessera::DeviceMesh::from_comm(MPI_COMM_WORLD); });
  expect_mpi_error("comm", [] { mesh.comm("x"); });
  expect_mpi_error("from_local",
                   [] { tessera::from_local(Matrix("local", 2, 2), mesh, {tessera::Shard(0)}); });
  expect_mpi_error("ScopeGuard", [&] { tessera::ScopeGuard guard(argc, argv); });
  if (size > 1) {
    expect_mpi_error("redistribute", [] { tessera::redistribute(rows, {tessera::Shard(1)}); });
    expect_mpi_error("full_tensor", [] { tessera::full_tensor(columns); });
  }
  Kokkos::finalize();
  return failures == 0 ? 0 : 1;
}
