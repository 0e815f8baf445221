// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Calls to which one rank comes after the others have given up.
#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include <tessera/mesh/device_mesh.hpp>

#include "../support/errors.hpp"
#include "pending_sums.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

/// Long: the memory goes back to the system when it is freed.
const Extents large{4, 2'000'000};

/// What sum(arrive) throws where rank 0 sleeps in arrive() for longer than the others wait.
template <class Sum>
std::string message_without_rank_0(const DeviceMesh& mesh, const Sum& sum) {
  const auto before = agreement(mesh);
  sum([] {});  // the next one compares nothing
  set_agreement(mesh, {.level = before.level, .timeout = 1});
  const auto come_late = [&] {
    if (mesh.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(4));
  };
  const auto message = message_of<Timeout>([&] { sum(come_late); });
  MPI_Barrier(MPI_COMM_WORLD);
  set_agreement(mesh, before);
  return message;
}

TEST(Pending, that_nobody_comes_for_times_out_however_rarely_it_is_tested) {
  if (world_size() == 1) return;
  const auto mesh = everyone();
  const auto before = agreement(mesh);
  start_sum(constant(1), mesh).wait();  // later starts compare nothing
  set_agreement(mesh, {.level = before.level, .timeout = 0.5});
  const auto sleep = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };

  std::string message;
  if (mesh.rank() == 0) sleep(4);
  try {
    auto pending = start_sum(constant(1), mesh);
    const bool is_complete = repeat_until(3, [&] {
      sleep(0.15);
      return pending.test();
    });
    message = is_complete ? "complete" : "no time-out";
  } catch (const Timeout& error) {
    message = error.what();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  set_agreement(mesh, before);
  const auto after = all_reduce(constant(2), ReduceOp::sum, mesh, 0);

  EXPECT_EQ(wrong_constant(after, 2 * mesh.size()), "");
  if (mesh.rank() == 0) return;
  EXPECT_THAT(message, HasSubstr("all_reduce: waited 0.5 s for mesh rank 0"));
}

TEST(Pending, that_has_timed_out_keeps_the_memory_that_a_late_rank_reads) {
  if (world_size() == 1) return;
  const auto mesh = everyone();

  const auto message = message_without_rank_0(mesh, [&](const auto& arrive) {
    auto pending = start_sum(constant(1, large), mesh);
    MPI_Barrier(MPI_COMM_WORLD);
    arrive();
    pending.wait();
  });
  const auto after = all_reduce(constant(2, large), ReduceOp::sum, mesh, 0);

  EXPECT_THAT(message, HasSubstr("all_reduce: waited 1 s for mesh rank 0"));
  EXPECT_EQ(wrong_constant(after, 2 * mesh.size(), large), "");
}

TEST(TimedOut, call_lets_go_of_its_memory_once_the_late_rank_has_come) {
  if (world_size() == 1) return;
  const auto mesh = everyone();
  const auto mine = constant(1, large);

  const auto message = message_without_rank_0(mesh, [&](const auto& arrive) {
    arrive();
    all_reduce(mine, ReduceOp::sum, mesh, 0);
  });
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const auto after = all_reduce(constant(2), ReduceOp::sum, mesh, 0);
    EXPECT_EQ(wrong_constant(after, 2 * mesh.size()), "");
  }

  EXPECT_THAT(message, HasSubstr("all_reduce: waited 1 s for mesh rank 0"));
  EXPECT_EQ(mine.use_count(), 1);
}

/// What is under way then is waited for as briefly as for the dead. Of more than two ranks, one that
/// leaves may let another go on for a while.
TEST(TimedOut, call_throws_soon_after_its_limit_where_ranks_compare_nothing) {
  if (world_size() != 2) return;
  using Clock = std::chrono::steady_clock;
  const auto mesh = everyone();
  const auto before = agreement(mesh);
  const auto mine = constant(1, large);
  set_agreement(mesh, {.level = Agreement::none, .timeout = 2.5});

  if (mesh.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5500));
  const auto start = Clock::now();
  const auto message = message_of<Timeout>([&] { all_reduce(mine, ReduceOp::sum, mesh, 0); });
  const std::chrono::duration<double> waited = Clock::now() - start;
  MPI_Barrier(MPI_COMM_WORLD);
  set_agreement(mesh, before);
  const auto after = all_reduce(constant(2), ReduceOp::sum, mesh, 0);

  EXPECT_EQ(wrong_constant(after, 2 * mesh.size()), "");
  if (mesh.rank() == 0) return;
  EXPECT_EQ(message, "all_reduce: waited 2.5 s for other ranks");
  EXPECT_LT(waited.count(), 4.3);
}

}  // namespace
}  // namespace tessera::test
