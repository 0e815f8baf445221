// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// The first argument says who initialises what before the ScopeGuard; the program fails unless the
// guard finalised exactly its own. A tensor lives on in static storage.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <tessera/tessera.hpp>

namespace {

using Matrix = Kokkos::View<double**>;
tessera::DTensor<Matrix> survivor;

bool is_mpi_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

bool has(const std::string& mode, const char* word) {
  return mode.find(word) != std::string::npos;
}

/// Works with the library under a guard; the values are right.
bool works(int& argc, char**& argv, bool throws) {
  const tessera::ScopeGuard guard(argc, argv, {.thread_level = MPI_THREAD_SERIALIZED});
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto mesh = tessera::init_device_mesh(MPI_COMM_WORLD, {size});
  const auto ones = tessera::ones<Matrix>(mesh, {tessera::Shard(0)}, {size, 3});
  survivor = tessera::redistribute(ones, {tessera::Shard(1)});
  if (throws && rank == size - 1) throw std::runtime_error("thrown on the last rank");
  if (throws && size > 1) MPI_Barrier(MPI_COMM_WORLD);
  const auto full = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), full_tensor(survivor));
  return full.extent_int(0) == size && full(0, 2) == 1.0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "alone";
  int provided = 0;
  if (has(mode, "mpi")) MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (has(mode, "kokkos")) Kokkos::initialize(argc, argv);
  bool is_right = false;
  try {
    is_right = works(argc, argv, has(mode, "throw"));
  } catch (const std::runtime_error& error) {
    const bool has_finalised = is_mpi_finalized() || Kokkos::is_finalized();
    std::printf("left by an exception, %s\n", has_finalised ? "wrongly finalised" : "as it was");
    return 1;
  }
  is_right = is_right && is_mpi_finalized() != has(mode, "mpi");
  is_right = is_right && Kokkos::is_finalized() != has(mode, "kokkos");
  if (has(mode, "kokkos")) Kokkos::finalize();
  if (has(mode, "mpi")) MPI_Finalize();
  if (!is_right) std::printf("%s: wrong values, or not exactly its own finalised\n", mode.c_str());
  return is_right ? 0 : 1;
}
