// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// A ScopeGuard that cannot have its thread level changes nothing; one inside another leaves
// everything to the outer one. The first argument is the thread level of an MPI that is up before:
// single, funneled or none.
#include <cstdio>
#include <string>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <tessera/tessera.hpp>

#include "../support/tensors.hpp"

namespace {

using tessera::test::Matrix;
int failures = 0;

void check(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

bool is_mpi_up() {
  int is_initialised = 0;
  int is_finalised = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_finalised);
  return is_initialised && !is_finalised;
}

bool works() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto mesh = tessera::init_device_mesh(MPI_COMM_WORLD, {size});
  const auto ones = tessera::ones<Matrix>(mesh, {tessera::Shard(0)}, {size, 2});
  return tessera::test::on_host(tessera::full_tensor(ones))(size - 1, 1) == 1.0;
}

void expect_too_low(int argc, char** argv, int given) {
  std::string message = "no error";
  try {
    const tessera::ScopeGuard guard(argc, argv, {.thread_level = MPI_THREAD_MULTIPLE});
  } catch (const tessera::MpiError& error) {
    message = error.what();
  }
  const std::string level =
      given == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED";
  const auto expected =
      "ScopeGuard: expected MPI with MPI_THREAD_MULTIPLE or more, got " + level +
      " from a program that called MPI_Init or MPI_Init_thread itself: call MPI_Init_thread with "
      "that level, or ask for less by ScopeGuardOptions::thread_level";
  check(message == expected, message.c_str());
  check(is_mpi_up(), "MPI stays up");
  check(!Kokkos::is_initialized(), "Kokkos is not initialised");
}

void nest(int argc, char** argv, int level) {
  const tessera::ScopeGuard outer(argc, argv, {.thread_level = level});
  {
    const tessera::ScopeGuard inner(argc, argv, {.thread_level = level});
    check(works(), "the library works under two guards");
  }
  check(is_mpi_up(), "the inner guard leaves MPI up");
  check(Kokkos::is_initialized() && !Kokkos::is_finalized(), "the inner guard leaves Kokkos up");
  check(works(), "the library works after the inner guard");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "none";
  if (mode == "none") {
    nest(argc, argv, MPI_THREAD_FUNNELED);
    check(!is_mpi_up(), "the outer guard finalises MPI");
    check(Kokkos::is_finalized(), "the outer guard finalises Kokkos");
    return failures;
  }
  int given = 0;
  MPI_Init_thread(&argc, &argv, mode == "single" ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED, &given);
  if (given < MPI_THREAD_MULTIPLE) expect_too_low(argc, argv, given);
  nest(argc, argv, given);
  check(is_mpi_up(), "no guard finalises MPI");
  check(Kokkos::is_finalized(), "the outer guard finalises Kokkos");
  MPI_Finalize();
  return failures;
}
