// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>
#include <tessera/mesh/device_mesh.hpp>

#include "../support/errors.hpp"
#include "../support/groups.hpp"
#include "../support/variable.hpp"
#include "comm/communicator_state.hpp"
#include "device/chosen_device.hpp"
#include "node/device_slots.hpp"
#include "node/nodes.hpp"

namespace {

using namespace tessera;
using detail::DevicePath;
using detail::DeviceSlots;
using detail::Staging;

/// A communicator that is made while the variables of the caller are set, and a mesh on it.
class Made {
 public:
  Made() : user_(test::duplicate_world()), mesh_(DeviceMesh::from_comm(user_)) {}
  ~Made() { MPI_Comm_free(&user_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  const Communicator::State& state() const { return mesh_.communicator().state(); }
  const detail::NodeState& node() const { return detail::nodes_of(mesh_.communicator()); }

 private:
  MPI_Comm user_;
  DeviceMesh mesh_;
};

TEST(DevicePath, the_variable_of_rank_0_decides) {
  const int rank = test::world().rank();
  const std::pair<const char*, std::pair<DevicePath, Staging>> cases[] = {
      {"mpi", {DevicePath::mpi, Staging::nothing}},
      {"stage", {DevicePath::stage, Staging::device_memory}}};
  for (const auto& [text, expected] : cases) {
    const test::Variable variable("TESSERA_DEVICE_PATH", rank == 0 ? text : "malformed");
    const Made made;
    EXPECT_EQ(made.state().device_path, expected.first) << text;
    EXPECT_EQ(made.state().staging, expected.second) << text;
    EXPECT_EQ(made.state().staging_source, "TESSERA_DEVICE_PATH");
  }
}

TEST(DevicePath, another_value_is_an_error_on_every_rank) {
  const test::Variable variable("TESSERA_DEVICE_PATH", "nvlink");
  auto user = test::duplicate_world();
  EXPECT_THAT(
      test::message_of<InvalidArgument>([&] { DeviceMesh::from_comm(user); }),
      testing::StartsWith("TESSERA_DEVICE_PATH: expected auto, mpi, ipc or stage, got \"nvlink\""));
  MPI_Comm_free(&user);
}

TEST(DevicePath, what_mpi_takes_decides_under_auto_alone) {
  const test::Variable aware("TESSERA_GPU_AWARE_MPI", "1");
  {
    const Made made;
    EXPECT_NE(made.state().device_path, DevicePath::mpi) << "on a node it is not asked";
    EXPECT_EQ(made.state().staging, Staging::nothing);
  }
  const test::Variable path("TESSERA_DEVICE_PATH", "stage");
  const Made made;
  EXPECT_EQ(made.state().device_path, DevicePath::stage);
  EXPECT_EQ(made.state().staging, Staging::device_memory);
}

TEST(DevicePath, ranks_of_a_node_map_the_slots_of_one_another) {
  const test::Variable path("TESSERA_DEVICE_PATH", "ipc_all");
  const Made made;
  const auto& state = made.state();
  const auto& node = made.node();
  if (!node.window || node.window->shared.window.shape().ranks == 1) GTEST_SKIP() << "no window";

  ASSERT_EQ(state.device_path, DevicePath::ipc);
  const auto& memory = node.device_slots->memory();
  EXPECT_GE(memory.slot_bytes, node.smallest_device_slot);
  EXPECT_FALSE(state.may_share_device_memory);
  EXPECT_GT(node.smallest_device_slot, 0);
  for (const auto* section : memory.sections) EXPECT_NE(section, nullptr);
}

TEST(DevicePath, without_a_window_blocks_take_another_way) {
  const test::Variable path("TESSERA_DEVICE_PATH", "ipc_all");
  const test::Variable window("TESSERA_WINDOW", "0");
  const Made made;

  EXPECT_EQ(made.state().device_path, DevicePath::stage);
  EXPECT_EQ(made.node().device_slots, nullptr);
}

TEST(DevicePath, what_one_rank_refuses_none_has) {
  if (test::world().size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const test::Variable path("TESSERA_DEVICE_PATH", "ipc_all");
  auto user = test::duplicate_world();
  const auto communicator = detail::communicator_on_nodes(user);
  auto* const known = detail::set_device_query([] { return -1; });
  if (communicator.rank() > 0) detail::set_device_query(known);
  std::string heard;
  {
    const LogScope listen([&](const LogRecord& record) { heard += record.text; });
    DeviceMesh::from_comm(user);
  }
  detail::set_device_query(known);

  const auto& state = communicator.state();
  const auto& node = detail::nodes_of(communicator);
  EXPECT_EQ(state.device_path, DevicePath::stage);
  EXPECT_EQ(node.device_slots, nullptr);
  const auto* const expected = node.window ? "no slots in device memory for the" : "";
  EXPECT_THAT(heard, testing::HasSubstr(expected));
  MPI_Comm_free(&user);
}

/// Where the driver of a device has a say, another process must have made the memory.
class DeviceSlotsOnHost : public testing::Test {
 protected:
  void SetUp() override {
    if (detail::device_kind() != detail::DeviceKind::none) GTEST_SKIP() << "memory of a device";
  }
};

TEST_F(DeviceSlotsOnHost, memory_that_cannot_be_mapped_is_told) {
  DeviceSlots slots(0, 2, 0, 1 << 20);
  EXPECT_EQ(slots.error(), "");

  slots.open(1, detail::DeviceHandle{"/proc/0/fd/0"});

  EXPECT_NE(slots.error(), "");
}

TEST_F(DeviceSlotsOnHost, memory_of_another_rank_than_expected_is_told) {
  DeviceSlots slots(0, 3, 0, 1 << 20);
  const DeviceSlots neighbour(0, 3, 2, 1 << 20);

  slots.open(1, neighbour.handle());

  EXPECT_EQ(slots.error(), "what another process has written there is not to be seen");
}

TEST_F(DeviceSlotsOnHost, own_memory_serves_the_next_ones) {
  constexpr std::int64_t of_no_other_test = 3 << 20;
  const std::byte* before = nullptr;
  {
    const DeviceSlots slots(0, 2, 0, of_no_other_test);
    before = slots.memory().sections[0];
  }
  const DeviceSlots slots(0, 2, 1, of_no_other_test);

  EXPECT_EQ(slots.memory().sections[1], before);
}

TEST(DeviceSlots, share_what_a_rank_may_have) {
  EXPECT_LE(DeviceSlots::slot_bytes(2), 16 << 20);
  EXPECT_GT(DeviceSlots::slot_bytes(8), 0);
  EXPECT_LE(14 * DeviceSlots::slot_bytes(8), detail::device_section_bytes());
  EXPECT_EQ(DeviceSlots::slot_bytes(100000), 0);
  EXPECT_EQ(DeviceSlots::slot_bytes(1), 0);
}

}  // namespace
