// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <sched.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/fetch/fetch.hpp>
#include <tessera/mesh/device_mesh.hpp>

#include "../support/errors.hpp"
#include "agreement/control.hpp"
#include "comm/communicator_state.hpp"
#include "pending_sums.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

TEST(Pending, destroyed_waits_so_that_others_get_their_data) {
  const auto mesh = everyone();
  const int n = mesh.size();
  for (int lazy = 0; lazy < n; ++lazy) {
    const auto mine = constant(lazy + 1);
    std::string wrong;

    {
      auto pending = start_sum(mine, mesh);
      if (mesh.rank() != lazy) wrong = wrong_constant(pending.wait(), n * (lazy + 1));
    }
    const auto after = all_reduce(mine, ReduceOp::max, mesh, 0);

    EXPECT_EQ(wrong, "");
    EXPECT_EQ(wrong_constant(after, lazy + 1), "");
  }
}

TEST(Pending, keeps_its_views_until_it_is_destroyed) {
  const auto mesh = everyone();
  const auto mine = constant(1);

  int count_while_pending = 0;
  {
    const auto pending = start_sum(mine, mesh);
    count_while_pending = mine.use_count();
  }

  EXPECT_GT(count_while_pending, 1);
  EXPECT_EQ(mine.use_count(), 1);
}

TEST(Pending, needs_no_other_handles_of_its_views) {
  const auto mesh = everyone();
  std::vector<Matrix> others;

  auto pending = start_sum(constant(2), mesh);
  for (int i = 0; i < 4; ++i) others.push_back(constant(-1));
  const auto sum = pending.wait();

  EXPECT_EQ(wrong_constant(sum, 2 * mesh.size()), "");
}

TEST(Pending, of_a_const_unmanaged_view_gives_one_that_can_be_written) {
  using Const = Kokkos::View<const double**, Kokkos::LayoutRight, TestSpace,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto mesh = everyone();
  const auto memory = constant(3);

  const auto sum = all_reduce_async(Const(memory), ReduceOp::sum, mesh, 0).wait();

  static_assert(!std::is_const_v<decltype(sum)::value_type>);
  EXPECT_EQ(wrong_constant(sum, 3 * mesh.size()), "");
}

TEST(Pending, gives_the_same_result_at_every_wait) {
  const auto mesh = everyone();
  auto pending = start_sum(constant(1), mesh);

  const auto first = pending.wait();
  const auto second = pending.wait();

  EXPECT_EQ(first.data(), second.data());
  EXPECT_TRUE(pending.test());
}

TEST(Pending, that_was_moved_from_says_so) {
  auto pending = start_sum(constant(1, {4, 4}), everyone());
  auto moved = std::move(pending);

  const auto message = message_of<InvalidArgument>([&] { pending.wait(); });

  EXPECT_THAT(message, HasSubstr("Pending: expected a call that was not moved"));
  EXPECT_EQ(wrong_constant(moved.wait(), world_size(), {4, 4}), "");
}

TEST(Pending, can_be_moved) {
  static_assert(!std::is_copy_constructible_v<Pending<Matrix>>);
  const auto mesh = everyone();
  auto first = start_sum(constant(1), mesh);

  auto second = std::move(first);
  std::vector<Pending<Matrix>> several;
  several.push_back(start_sum(constant(2), mesh));
  several.push_back(std::move(second));

  EXPECT_EQ(wrong_constant(several[1].wait(), mesh.size()), "");
  EXPECT_EQ(wrong_constant(several[0].wait(), 2 * mesh.size()), "");
}

TEST(Pending, does_not_count_as_waiting_what_its_caller_does_between_tests) {
  const auto mesh = everyone();
  const auto before = agreement(mesh);
  set_agreement(mesh, {.level = before.level, .timeout = 0.5});
  const auto away = [] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); };

  auto pending = start_sum(constant(mesh.rank() + 1), mesh);
  if (mesh.rank() == 0)
    for (int i = 0; i < 4; ++i, away()) pending.test();
  else
    for (int i = 0; i < 4; ++i) away();
  const auto sum = pending.wait();

  set_agreement(mesh, before);
  EXPECT_EQ(wrong_constant(sum, mesh.size() * (mesh.size() + 1) / 2), "");
}

TEST(Pending, that_is_complete_moves_others_on_when_it_is_tested) {
  const auto mesh = everyone();
  const auto other = kept_mesh("of another communicator", [] {
    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    return DeviceMesh::from_comm(duplicate);
  });
  for (const auto& place : {mesh, other}) {
    auto complete = start_sum(constant(1, {2, 2}), mesh);
    complete.wait();

    auto pending = start_sum(constant(3), place);
    if (mesh.rank() != 0) pending.wait();
    MPI_Request all_have_it = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all_have_it);
    const bool is_moved_on = repeat_until(5, [&] {
      complete.test();
      sched_yield();
      int is_done = 0;
      MPI_Test(&all_have_it, &is_done, MPI_STATUS_IGNORE);
      return is_done != 0;
    });
    const auto sum = pending.wait();
    MPI_Wait(&all_have_it, MPI_STATUS_IGNORE);

    EXPECT_TRUE(is_moved_on);
    EXPECT_EQ(wrong_constant(sum, 3 * mesh.size()), "");
  }
}

TEST(Pending, moves_on_while_a_communicator_is_set_up) {
  const auto mesh = everyone();
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  std::string wrong;

  auto pending = start_sum(constant(3), mesh);
  if (mesh.rank() != 0) wrong = wrong_constant(pending.wait(), 3 * mesh.size());
  const auto on_other = DeviceMesh::from_comm(other);
  if (mesh.rank() == 0) wrong = wrong_constant(pending.wait(), 3 * mesh.size());
  MPI_Comm_free(&other);

  EXPECT_EQ(wrong, "");
}

TEST(Pending, that_moves_may_hold_up_a_later_call_for_longer_than_the_limit) {
  if (world_size() != 2) GTEST_SKIP() << "needs a core for each rank";
  const auto mesh = everyone();
  const auto before = agreement(mesh);
  constexpr double limit = 0.5;
  // What the other rank has comes to one patch again and again: no rank stops to find memory.
  const Extents shape{100, 100'000};
  const auto tensor = full<Matrix>(mesh, {Shard(0)}, {200, 100'000}, 1);
  const Box others{{100 * (1 - mesh.rank()), 0}, shape};
  const auto patch = constant(0, shape);
  const auto make = [&] { return make_fetch(tensor, others); };
  const auto small = [&] { all_reduce(constant(1, {1, 1}), ReduceOp::sum, mesh, 0); };
  const auto first = make();
  first.fetch(tensor, patch);
  small();
  const auto begin = MPI_Wtime();
  for (int i = 0; i < 4; ++i) first.fetch(tensor, patch);
  double shortest = (MPI_Wtime() - begin) / 4;
  MPI_Allreduce(MPI_IN_PLACE, &shortest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  std::vector<Fetcher> fetchers;
  while (static_cast<double>(fetchers.size()) * shortest < 3 * limit) fetchers.push_back(make());
  Kokkos::deep_copy(patch, 0);

  set_agreement(mesh, {.level = before.level, .timeout = limit});
  double seconds = 0;
  const auto message = message_of<Timeout>([&] {
    std::vector<Pending<Matrix>> pending;
    for (const auto& fetcher : fetchers) pending.push_back(fetcher.fetch_async(tensor, patch));
    const auto start = MPI_Wtime();
    small();
    for (auto& each : pending) each.wait();
    seconds = MPI_Wtime() - start;
  });
  MPI_Barrier(MPI_COMM_WORLD);
  set_agreement(mesh, before);

  EXPECT_EQ(message, "no error");
  EXPECT_EQ(wrong_constant(patch, 1, shape), "");
  EXPECT_GT(seconds, limit);
}

TEST(Pending, replaced_by_another_ends_before_its_views_go) {
  const auto mesh = everyone();
  std::string wrong;

  auto first = start_sum(constant(1), mesh);
  auto second = start_sum(constant(5), mesh);
  if (mesh.rank() == 0)
    first = std::move(second);
  else
    wrong =
        wrong_constant(first.wait(), mesh.size()) + wrong_constant(second.wait(), 5 * mesh.size());
  if (mesh.rank() == 0) wrong = wrong_constant(first.wait(), 5 * mesh.size());

  EXPECT_EQ(wrong, "");
}

TEST(Pending, of_calls_whose_messages_bear_the_same_tag_each_gets_its_own) {
  const auto mesh = everyone();
  auto& tag_range = mesh.communicator().state().control->tag_range;
  const auto usual_range = std::exchange(tag_range, 1);
  const auto shape = [](int call) { return Extents{3, 100'000 + 7'000 * call}; };
  std::vector<Pending<Matrix>> pending;
  std::vector<std::string> wrong;

  for (int call = 0; call < 4; ++call)
    pending.push_back(start_sum(constant(call + 1, shape(call)), mesh));
  const auto blocking = all_reduce(constant(9), ReduceOp::sum, mesh, 0);
  for (int i = 0; i < 4; ++i) {
    const int call = mesh.rank() % 2 == 0 ? i : 3 - i;
    wrong.push_back(wrong_constant(pending[static_cast<std::size_t>(call)].wait(),
                                   (call + 1) * mesh.size(), shape(call)));
  }
  tag_range = usual_range;

  EXPECT_EQ(wrong, std::vector<std::string>(4));
  EXPECT_EQ(wrong_constant(blocking, 9 * mesh.size()), "");
}

}  // namespace
}  // namespace tessera::test
