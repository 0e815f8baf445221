// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include <tessera/agreement/detail/wait.hpp>
#include <tessera/redistribute/collectives.hpp>

#include "../support/generator.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "mpi_counters.hpp"

namespace tessera::test {
namespace {

/// More than MPICH has communicators in a process.
const int very_many = cases(2100);

/// Gives the core away while it waits: MPI_Comm_dup does not.
MPI_Comm duplicate_of_world() {
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(MPI_COMM_WORLD, &result, &request);
  detail::wait_yielding(request);
  return result;
}

/// Shapes of meshes of all ranks of MPI_COMM_WORLD.
std::vector<std::vector<int>> shapes() {
  const int n = world_size();
  std::vector<std::vector<int>> result{{n}, {1, n}, {n, 1}};
  if (n % 2 == 0) result.push_back({2, n / 2});
  return result;
}

/// Allocations of Kokkos that live.
std::set<const void*> allocations;

class AllocationScope {
 public:
  AllocationScope() {
    namespace Tools = Kokkos::Tools::Experimental;
    allocations.clear();
    Tools::set_allocate_data_callback([](Kokkos_Profiling_SpaceHandle, const char*,
                                         const void* data,
                                         std::uint64_t) { allocations.insert(data); });
    Tools::set_deallocate_data_callback([](Kokkos_Profiling_SpaceHandle, const char*,
                                           const void* data,
                                           std::uint64_t) { allocations.erase(data); });
  }
  ~AllocationScope() {
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
  }
  AllocationScope(const AllocationScope&) = delete;
  AllocationScope& operator=(const AllocationScope&) = delete;
};

TEST(Lifetime, of_very_many_meshes_takes_one_communicator_for_each_group) {
  const auto shape_list = shapes();
  mesh_of({world_size()});
  const auto before = mpi_counters();
  bool all_equal = true;

  for (int cycle = 0; cycle < very_many; ++cycle) {
    const auto& shape = shape_list[static_cast<std::size_t>(cycle) % shape_list.size()];
    const auto mesh = init_device_mesh(MPI_COMM_WORLD, shape);
    int size = 0;
    MPI_Comm_size(mesh.comm(0), &size);
    all_equal = all_equal && size == shape[0];
  }
  const auto after = mpi_counters();

  EXPECT_TRUE(all_equal);
  EXPECT_LE(after.communicators - before.communicators, static_cast<int>(shape_list.size()));
}

TEST(Lifetime, of_very_many_user_communicators_leaves_none) {
  const auto before = mpi_counters();
  int wrong = 0;

  for (int cycle = 0; cycle < very_many; ++cycle) {
    auto user = duplicate_of_world();
    const auto mesh = init_device_mesh(user, {world_size()});
    const auto rows = iota<Matrix>(mesh, {Shard(0)}, {6, 5});
    const auto columns = redistribute(rows, {Shard(1)});
    wrong += wrong_iota(columns) != "";
    MPI_Comm_free(&user);
  }
  const auto after = mpi_counters();

  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(after.communicators, before.communicators);
  EXPECT_LE(after.requests, before.requests);
}

TEST(Lifetime, of_very_many_user_communicators_leaves_none_of_the_groups_either) {
  // MPI_Comm_create_group of several ranks takes long where they outnumber the cores.
  const int group_size = world_size() <= 2 ? world_size() : 1;
  const auto before = mpi_counters();

  for (int cycle = 0; cycle < very_many; ++cycle) {
    auto user = duplicate_of_world();
    init_device_mesh(user, {world_size() / group_size, group_size}).comm(1);
    MPI_Comm_free(&user);
  }
  const auto after = mpi_counters();

  EXPECT_EQ(after.groups_made - before.groups_made, very_many);
  EXPECT_EQ(after.communicators, before.communicators);
  EXPECT_LE(after.requests, before.requests);
}

TEST(Lifetime, of_many_redistributions_leaves_no_allocation_and_no_request) {
  constexpr int rounds = 2000;
  const std::vector<Placement> targets{Shard(1), Replicate(), Shard(0)};
  const AllocationScope scope;
  const auto before = mpi_counters();
  int wrong = 0;

  {
    auto user = duplicate_of_world();
    {
      const auto mesh = init_device_mesh(user, {world_size()});
      const auto view = iota_view<Matrix>({5, 7});
      auto tensor = iota<Matrix>(mesh, {Shard(0)}, {17, 9});
      for (int round = 0; round < rounds; ++round) {
        const auto target = targets[static_cast<std::size_t>(round) % targets.size()];
        tensor = redistribute(tensor, {target});
        auto pending = all_reduce_async(view, ReduceOp::max, mesh, 0);
        if (target.is_replicate()) pending.wait();
      }
      wrong += wrong_iota(tensor) != "";
    }
    MPI_Comm_free(&user);
  }
  const auto after = mpi_counters();

  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(allocations.size(), 0u);
  EXPECT_EQ(after.communicators, before.communicators);
  EXPECT_LE(after.requests, before.requests);
}

TEST(Lifetime, of_a_mesh_dropped_before_its_communicator_leaves_no_allocation) {
  const AllocationScope scope;

  {
    const auto mesh = init_device_mesh(MPI_COMM_WORLD, {world_size()});
    const auto rows = iota<Matrix>(mesh, {Shard(0)}, {6, 5});
    redistribute(redistribute(rows, {Shard(1)}), {Replicate()});
    all_gather_async(rows.to_local(), 0, mesh, 0);
  }

  EXPECT_EQ(allocations.size(), 0u);
}

TEST(Lifetime, leaves_no_shared_memory_behind) {
  auto user = duplicate_of_world();
  const auto mesh = init_device_mesh(user, {world_size()});
  redistribute(iota<Matrix>(mesh, {Shard(0)}, {6, 5}), {Shard(1)});
  MPI_Comm_free(&user);

  const auto mine = "tessera-" + std::to_string(getpid()) + "-";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith(mine)));
}

}  // namespace
}  // namespace tessera::test
