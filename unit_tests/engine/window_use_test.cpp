// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include <tessera/error/log.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "comm/communicator_state.hpp"
#include "node/nodes.hpp"

namespace tessera::test {
namespace {

using detail::nodes_of;

constexpr std::int64_t most_bytes_per_rank = 8 << 20;

/// A communicator of the user's own.
class Duplicate {
 public:
  Duplicate() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~Duplicate() { MPI_Comm_free(&comm_); }
  Duplicate(const Duplicate&) = delete;
  Duplicate& operator=(const Duplicate&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// No file of this process may grow: shared memory is refused.
class NoFiles {
 public:
  NoFiles() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    auto limit = before_;
    limit.rlim_cur = 1024;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~NoFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  NoFiles(const NoFiles&) = delete;
  NoFiles& operator=(const NoFiles&) = delete;

 private:
  rlimit before_{};
};

std::string explained(const DeviceMesh& mesh) {
  const auto spec = [&](const Placement& placement) {
    return DTensorSpec(mesh.layout(), {placement}, {200, 300});
  };
  return make_plan(spec(Shard(0)), spec(Shard(1)), element_type<double>()).bind(mesh).explain();
}

TEST(Window, is_named_in_explanations) {
  const auto mesh = mesh_of({world_size()});
  const auto& node = nodes_of(mesh.communicator());
  const auto near = node.window ? node.map.peers(mesh.communicator().rank()).size() - 1 : 0;

  const auto text = explained(mesh);

  // The plan is for host memory.
  const bool is_elsewhere =
      node.device_slots != nullptr && mesh.communicator().state().wanted_path.is_for_all_memory;
  const auto* const way = is_elsewhere ? "the device slots" : "the window";
  EXPECT_NE(text.find(fmt::format(": {} peers through {}", near, way)), std::string::npos) << text;
}

TEST(Window, takes_little_memory_whatever_the_tensor) {
  const auto mesh = mesh_of({world_size()});
  const auto& window = nodes_of(mesh.communicator()).window;
  if (!window) GTEST_SKIP() << "needs 2 ranks on one node";

  EXPECT_LE(window->shared.window.shape().section_bytes(), most_bytes_per_rank);
}

TEST(Window, where_it_is_refused_messages_do_and_a_warning_is_logged) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  std::vector<std::string> warnings;
  const LogScope scope([&](const LogRecord& record) { warnings.push_back(record.text); });
  const Duplicate comm;
  DeviceMesh mesh;
  {
    const NoFiles none;
    mesh = DeviceMesh::from_comm(comm.get());
  }

  const auto result = redistribute(iota<Matrix>(mesh, {Shard(0)}, {200, 300}), {Shard(1)});

  EXPECT_FALSE(nodes_of(mesh.communicator()).window);
  EXPECT_TRUE(is_iota(result));
  EXPECT_NE(explained(mesh).find(": 0 peers through the window"), std::string::npos);
  if (nodes_of(mesh.communicator()).map.nodes() == mesh.size()) return;
  EXPECT_THAT(warnings, testing::Contains(testing::HasSubstr("no window for the")));
}

TEST(Window, one_rank_that_cannot_map_it_is_enough_for_messages) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const Duplicate comm;
  DeviceMesh mesh;
  if (world_rank() == world_size() - 1) {
    const NoFiles none;
    mesh = DeviceMesh::from_comm(comm.get());
  } else {
    mesh = DeviceMesh::from_comm(comm.get());
  }

  const auto result = redistribute(iota<Matrix>(mesh, {Shard(0)}, {200, 300}), {Shard(1)});

  EXPECT_TRUE(is_iota(result));
}

TEST(Window, user_code_may_throw_between_transfers) {
  const auto mesh = mesh_of({world_size()});
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {60, 50});
  try {
    redistribute(source, {Shard(1)});
    throw std::runtime_error("of the user");
  } catch (const std::runtime_error&) {
  }

  EXPECT_TRUE(is_iota(redistribute(source, {Shard(1)})));
  EXPECT_TRUE(is_iota(redistribute(source, {Replicate()})));
}

/// In host memory: a device has no kernels for such elements.
TEST(Window, elements_larger_than_its_slots_travel_in_messages) {
  struct Huge {
    char bytes[600000];
  };
  using Vector = Kokkos::View<Huge*, Kokkos::HostSpace>;
  const int n = world_size();
  const auto mesh = mesh_of({n});
  const Vector view("view", 2);
  for (int i = 0; i < 2; ++i) view(i).bytes[599999] = static_cast<char>(2 * mesh.rank() + i);
  const auto source = from_local(view, mesh, {Shard(0)}, {2 * n});

  const auto whole = full_tensor(source);

  for (int i = 0; i < 2 * n; ++i) EXPECT_EQ(whole(i).bytes[599999], static_cast<char>(i));
}

}  // namespace
}  // namespace tessera::test
