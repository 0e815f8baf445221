// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <mpi.h>
#include <sched.h>

#include <gtest/gtest.h>

#include <tessera/tensor/detail/launch.hpp>

#include "../support/meshes.hpp"

namespace tessera::test {
namespace {

/// Those that one thread or another of any rank may use: OpenMP may have pinned each to its own.
int usable_cores() {
  cpu_set_t cpus{};
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    cpu_set_t own{};
    sched_getaffinity(std::stoi(thread.path().filename()), sizeof own, &own);
    CPU_OR(&cpus, &cpus, &own);
  }
  MPI_Allreduce(MPI_IN_PLACE, &cpus, sizeof cpus, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  return CPU_COUNT(&cpus);
}

TEST(Threads, work_where_each_has_a_core_also_if_pinned) {
  const auto mesh = mesh_of({world_size()});
  const int threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  const bool has_cores = threads * world_size() <= usable_cores();

  EXPECT_EQ(detail::is_for_threads(Execution(), detail::serial_bytes), threads > 1 && has_cores);
}

}  // namespace
}  // namespace tessera::test
