// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <tessera/agreement/detail/wait.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/comm/communicator.hpp>
#include <tessera/error/error.hpp>
#include <tessera/mpi/detail/runtime.hpp>

#include "../support/errors.hpp"
#include "../support/groups.hpp"
#include "agreement/control.hpp"
#include "comm/communicator_state.hpp"
#include "node/nodes.hpp"

namespace {

using namespace tessera;
using test::message_of;
using test::rank_lists;
using test::world;
using testing::HasSubstr;

MPI_Comm user_duplicate(MPI_Comm comm) {
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(comm, &result, &request);
  detail::wait_yielding(request);
  return result;
}

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

TEST(Communicator, is_the_same_for_every_use_of_a_user_communicator) {
  const auto first = world();
  const auto second = detail::communicator_on_nodes(MPI_COMM_WORLD);

  int result = -1;
  MPI_Comm_compare(first.handle(), MPI_COMM_WORLD, &result);

  EXPECT_EQ(first, second);
  EXPECT_EQ(result, MPI_CONGRUENT);
  EXPECT_EQ(first.rank(), rank_in(MPI_COMM_WORLD));
}

TEST(Communicator, of_a_duplicate_of_the_users_communicator_is_another_one) {
  const auto original = world();
  auto user = user_duplicate(MPI_COMM_WORLD);

  const auto copy = detail::communicator_on_nodes(user);

  EXPECT_NE(original, copy);
  MPI_Comm_free(&user);
  EXPECT_TRUE(copy.is_freed());
  EXPECT_FALSE(original.is_freed());
}

TEST(Communicator, throws_after_the_user_freed_his) {
  auto user = user_duplicate(MPI_COMM_WORLD);
  const auto communicator = detail::communicator_on_nodes(user);
  const std::vector ranks{communicator.rank()};
  communicator.group(ranks);

  MPI_Comm_free(&user);

  EXPECT_TRUE(communicator.is_freed());
  EXPECT_THAT(message_of<MpiError>([&] { communicator.handle(); }), HasSubstr("was freed"));
  EXPECT_THAT(message_of<MpiError>([&] { communicator.group(ranks); }), HasSubstr("was freed"));
  EXPECT_THAT(message_of<MpiError>([&] { communicator.rank(); }), HasSubstr("was freed"));
}

TEST(Communicator, may_be_dropped_before_the_user_frees_his) {
  auto user = user_duplicate(MPI_COMM_WORLD);
  detail::communicator_on_nodes(user);

  EXPECT_EQ(MPI_Comm_free(&user), MPI_SUCCESS);
}

// MPICH 5 refuses to free a communicator with messages that nobody received.
TEST(Communicator, takes_what_nobody_received_before_it_is_freed) {
  auto user = user_duplicate(MPI_COMM_WORLD);
  const int sender = world().size() - 1;
  if (sender == 0) GTEST_SKIP() << "a message to oneself is received by oneself";
  const int value = 1;
  MPI_Request sent = MPI_REQUEST_NULL;
  {
    const auto communicator = detail::communicator_on_nodes(user);
    if (communicator.rank() == sender)
      MPI_Issend(&value, 1, MPI_INT, 0, detail::plain_tag, communicator.state().handle, &sent);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&user);

  int is_taken = 0;
  for (const double start = MPI_Wtime(); !is_taken && MPI_Wtime() < start + 5;)
    MPI_Test(&sent, &is_taken, MPI_STATUS_IGNORE);
  EXPECT_TRUE(is_taken);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Communicator, does_not_mistake_a_new_communicator_for_a_freed_one) {
  auto first = user_duplicate(MPI_COMM_WORLD);
  const auto freed = detail::communicator_on_nodes(first);
  MPI_Comm_free(&first);
  auto second = user_duplicate(MPI_COMM_WORLD);

  const auto communicator = detail::communicator_on_nodes(second);

  EXPECT_NE(freed, communicator);
  EXPECT_FALSE(communicator.is_freed());
  MPI_Comm_free(&second);
}

TEST(Communicator, uses_up_no_communicators_of_mpi) {
  // MPICH has 2046 for each process: more ranks than two would only make it slower.
  const auto origin = world().size() <= 2 ? MPI_COMM_WORLD : MPI_COMM_SELF;
  const auto rank = rank_in(origin);
  bool all_equal = true;

  for (int cycle = 0; cycle < 2100; ++cycle) {
    auto user = user_duplicate(origin);
    const auto communicator = detail::communicator_on_nodes(user);
    all_equal = all_equal && rank_in(communicator.group(std::span(&rank, 1))) == 0;
    MPI_Comm_free(&user);
  }

  EXPECT_TRUE(all_equal);
}

TEST(Communicator, is_made_in_a_few_milliseconds) {
  if (world().size() > 2) GTEST_SKIP() << "needs a core for each rank";
  std::vector<double> times;
  for (int cycle = 0; cycle < 21; ++cycle) {
    auto user = user_duplicate(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    detail::communicator_on_nodes(user);
    times.push_back(MPI_Wtime() - start);
    MPI_Comm_free(&user);
  }
  std::ranges::nth_element(times, times.begin() + 10);

  EXPECT_LT(times[10], 5e-3);
}

TEST(Communicator, hears_at_once_what_was_said_during_a_pause_that_is_short_of_the_time_limit) {
  if (world().size() > 2) GTEST_SKIP() << "needs a core for each rank";
  const auto group = all_ranks(world());
  const double pause = 1.5 * world().state().control->options.patience;
  double least = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    all_gather_value(group, repetition, TraceKind::metadata, "tessera::test");
    least = std::min(least, MPI_Wtime() - start);
  }

  EXPECT_LT(least, 3e-4);
}

TEST(Communicator, of_comm_self_has_one_rank) {
  const auto communicator = detail::communicator_on_nodes(MPI_COMM_SELF);

  EXPECT_EQ(communicator.rank(), 0);
  EXPECT_EQ(communicator.size(), 1);
  EXPECT_EQ(detail::nodes_of(communicator).map.node, std::vector{0});
  EXPECT_FALSE(communicator.is_oversubscribed());
}

TEST(Communicator, is_oversubscribed_where_ranks_outnumber_the_cores_of_their_machine) {
  const auto communicator = world();
  const auto cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (detail::node_local_rank() < cores) GTEST_SKIP() << "fewer ranks than cores";

  EXPECT_TRUE(communicator.is_oversubscribed());
}

TEST(Communicator, rejects_comm_null) {
  const auto message =
      message_of<InvalidArgument>([] { detail::communicator_on_nodes(MPI_COMM_NULL); });

  EXPECT_EQ(message, "expected an intra-communicator, got MPI_COMM_NULL");
}

TEST(Communicator, rejects_an_inter_communicator) {
  const auto communicator = world();
  if (communicator.size() < 2) GTEST_SKIP() << "needs two ranks";
  const bool is_low = communicator.rank() == 0;
  MPI_Comm part = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_low ? 0 : 1, 0, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, is_low ? 1 : 0, 7, &inter);

  const auto message = message_of<InvalidArgument>([&] { detail::communicator_on_nodes(inter); });

  EXPECT_EQ(message, "expected an intra-communicator, got an inter-communicator");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&part);
}

TEST(Communicator, that_is_null_has_no_rank) {
  const Communicator communicator;

  EXPECT_TRUE(communicator.is_null());
  EXPECT_FALSE(communicator.is_freed());
  EXPECT_THAT(message_of<InvalidArgument>([&] { communicator.rank(); }), HasSubstr("null one"));
}

TEST(CommunicatorGroup, has_the_ranks_in_the_order_of_the_list) {
  const auto communicator = world();

  for (const auto& ranks : rank_lists(communicator.size()))
    if (const auto group = test::group_of(communicator, ranks)) {
      const auto made = communicator.group(ranks);
      int size = -1;
      MPI_Comm_size(made, &size);

      EXPECT_EQ(rank_in(made), group->position);
      EXPECT_EQ(size, group->size());
      EXPECT_EQ(communicator.group(ranks), made);
    }
}

TEST(CommunicatorGroup, rejects_a_list_without_the_caller) {
  const auto communicator = world();
  const std::vector<int> ranks;

  const auto message = message_of<InvalidArgument>([&] { communicator.group(ranks); });

  EXPECT_EQ(message, "Communicator::group: expected a list with the calling rank " +
                         std::to_string(communicator.rank()) + ", got []");
}

TEST(CommunicatorGroup, has_the_error_handler_of_the_users_communicator) {
  auto user = user_duplicate(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(user, MPI_ERRORS_ARE_FATAL);
  const auto communicator = detail::communicator_on_nodes(user);
  const std::vector ranks{communicator.rank()};
  MPI_Errhandler of_group = MPI_ERRHANDLER_NULL, of_duplicate = MPI_ERRHANDLER_NULL;

  MPI_Comm_get_errhandler(communicator.group(ranks), &of_group);
  MPI_Comm_get_errhandler(communicator.handle(), &of_duplicate);

  EXPECT_EQ(of_group, MPI_ERRORS_ARE_FATAL);
  EXPECT_EQ(of_duplicate, MPI_ERRORS_RETURN);
  MPI_Comm_free(&user);
}

TEST(CommunicatorGroup, given_back_by_the_user_is_freed_together_with_its_origin) {
  auto user = user_duplicate(MPI_COMM_WORLD);
  const auto communicator = detail::communicator_on_nodes(user);
  const std::vector ranks{communicator.rank()};

  const auto nested = detail::communicator_on_nodes(communicator.group(ranks));
  MPI_Comm_free(&user);

  EXPECT_TRUE(communicator.is_freed());
  EXPECT_TRUE(nested.is_freed());
}

}  // namespace
