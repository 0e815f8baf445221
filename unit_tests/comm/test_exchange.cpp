// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include <tessera/comm/detail/message_limit.hpp>
#include <tessera/comm/detail/state.hpp>
#include <tessera/comm/exchange.hpp>
#include <tessera/error/error.hpp>

#include "groups.hpp"

namespace {

using namespace tessera;
using test::world;

constexpr auto operation = "tessera::test";

std::vector<int> numbers(int first, int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), first);
  return result;
}

std::byte* data(std::vector<int>& values) {
  return std::as_writable_bytes(std::span(values)).data();
}

std::int64_t size(const std::vector<int>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(int));
}

struct Ring {
  std::vector<int> received;
  std::vector<TraceEvent> events;
};

/// Everyone sends `count` numbers to the next rank.
Ring send_to_next(const Communicator& communicator, int count) {
  const int n = communicator.size();
  const int next = (communicator.rank() + 1) % n;
  const int previous = (communicator.rank() + n - 1) % n;
  auto sent = numbers(1000 * communicator.rank(), count);
  Ring result{std::vector<int>(sent.size(), -1), {}};
  const TraceScope scope([&](const TraceEvent& event) { result.events.push_back(event); });
  Exchange exchange(communicator, TraceKind::exchange, operation, n);
  exchange.receive(data(result.received), size(result.received), previous);
  exchange.send(data(sent), size(sent), next);
  exchange.finish();
  return result;
}

/// MPICH gives failures of requests to the error handler of MPI_COMM_WORLD, not of the
/// communicator.
class ReturningErrors {
 public:
  ReturningErrors() {
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~ReturningErrors() { MPI_Comm_set_errhandler(MPI_COMM_WORLD, old_); }

 private:
  MPI_Errhandler old_ = MPI_ERRHANDLER_NULL;
};

TEST(Exchange, brings_data_to_the_next_rank_also_where_that_is_the_caller) {
  const auto communicator = world();
  const int n = communicator.size();
  const int previous = (communicator.rank() + n - 1) % n;

  const auto [received, events] = send_to_next(communicator, 100);

  EXPECT_EQ(received, numbers(1000 * previous, 100));
}

TEST(Exchange, emits_one_event_with_what_was_sent) {
  const auto communicator = world();

  const auto [received, events] = send_to_next(communicator, 100);

  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, TraceKind::exchange);
  EXPECT_STREQ(events[0].operation, operation);
  EXPECT_EQ(events[0].group_size, communicator.size());
  EXPECT_EQ(events[0].bytes_sent, 400);
  EXPECT_EQ(events[0].bytes_received, 400);
  EXPECT_EQ(events[0].messages_sent, 1);
  EXPECT_EQ(events[0].messages_received, 1);
}

TEST(Exchange, cuts_messages_above_the_limit) {
  const auto communicator = world();
  const int n = communicator.size();
  const detail::LimitScope limit(communicator, 64);
  const int previous = (communicator.rank() + n - 1) % n;

  const auto [received, events] = send_to_next(communicator, 100);

  EXPECT_EQ(received, numbers(1000 * previous, 100));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].bytes_sent, 400);
  EXPECT_EQ(events[0].messages_sent, 7);
  EXPECT_EQ(events[0].messages_received, 7);
}

TEST(Exchange, does_not_cut_a_message_of_exactly_the_limit) {
  const auto communicator = world();
  const detail::LimitScope limit(communicator, 400);

  const auto [received, events] = send_to_next(communicator, 100);

  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].messages_sent, 1);
}

TEST(Exchange, sends_no_message_of_zero_bytes) {
  const auto [received, events] = send_to_next(world(), 0);

  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].bytes_sent, 0);
  EXPECT_EQ(events[0].messages_sent, 0);
  EXPECT_EQ(events[0].messages_received, 0);
}

TEST(Exchange, matches_messages_between_two_ranks_in_the_order_of_posting) {
  const auto communicator = world();
  const int n = communicator.size();
  auto first = numbers(0, 10), second = numbers(50, 20);
  std::vector<int> a(10), b(20);

  Exchange exchange(communicator, TraceKind::exchange, operation, n);
  exchange.send(data(first), size(first), (communicator.rank() + 1) % n);
  exchange.send(data(second), size(second), (communicator.rank() + 1) % n);
  exchange.receive(data(a), size(a), (communicator.rank() + n - 1) % n);
  exchange.receive(data(b), size(b), (communicator.rank() + n - 1) % n);
  exchange.finish();

  EXPECT_EQ(a, first);
  EXPECT_EQ(b, second);
}

TEST(Exchange, goes_on_after_a_wait_as_one_event) {
  const auto communicator = world();
  const int n = communicator.size();
  auto sent = numbers(communicator.rank(), 5);
  std::vector<int> received(5);
  std::vector<TraceEvent> events;
  const TraceScope scope([&](const TraceEvent& event) { events.push_back(event); });

  Exchange exchange(communicator, TraceKind::exchange, operation, n);
  for (int phase = 0; phase < 3; ++phase) {
    exchange.receive(data(received), size(received), (communicator.rank() + n - 1) % n);
    exchange.send(data(sent), size(sent), (communicator.rank() + 1) % n);
    exchange.wait();
    sent = received;
  }
  exchange.finish();

  EXPECT_EQ(received, numbers((communicator.rank() + 3 * n - 3) % n, 5));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].bytes_sent, 60);
}

TEST(Exchange, moves_megabytes_between_all_pairs) {
  const auto communicator = world();
  const int n = communicator.size();
  constexpr int count = 300'000;
  std::vector<std::vector<int>> sent, received(static_cast<std::size_t>(n));

  Exchange exchange(communicator, TraceKind::exchange, operation, n);
  for (int rank = 0; rank < n; ++rank) {
    auto& buffer = received[static_cast<std::size_t>(rank)];
    buffer.resize(count);
    exchange.receive(data(buffer), size(buffer), rank);
    sent.push_back(numbers(100 * communicator.rank() + rank, count));
  }
  for (int rank = 0; rank < n; ++rank)
    exchange.send(data(sent[static_cast<std::size_t>(rank)]), count * 4, rank);
  exchange.finish();

  for (int rank = 0; rank < n; ++rank)
    EXPECT_EQ(received[static_cast<std::size_t>(rank)] ==
                  numbers(100 * rank + communicator.rank(), count),
              true);
}

TEST(Exchange, cancels_receives_when_an_exception_passes) {
  const auto communicator = world();
  const int n = communicator.size();
  auto& calls = communicator.state().control->log(7, all_ranks(communicator).ranks, "test");
  std::vector<int> never(10, -1);
  std::vector<TraceEvent> events;

  const auto fail = [&](Operation& call) {
    call.agree(0, {});
    const TraceScope scope([&](const TraceEvent& event) { events.push_back(event); });
    Exchange exchange(communicator, TraceKind::exchange, operation, n);
    exchange.receive(data(never), size(never), (communicator.rank() + n - 1) % n);
    throw std::runtime_error("between post and wait");
  };

  EXPECT_THROW(collectively(&calls, "test", fail), std::exception);
  const auto [received, ring_events] = send_to_next(communicator, 10);
  EXPECT_EQ(received, numbers(1000 * ((communicator.rank() + n - 1) % n), 10));
  EXPECT_EQ(never, std::vector<int>(10, -1));
  EXPECT_TRUE(events.empty());
}

bool is_open_mpi() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  return std::string(version).starts_with("Open MPI");
}

TEST(Exchange, reports_a_message_that_is_longer_than_its_receive) {
  const auto communicator = world();
  const int n = communicator.size();
  if (n == 1 && is_open_mpi()) GTEST_SKIP() << "Open MPI cuts what a rank sends to itself";
  auto sent = numbers(0, 10);
  std::vector<int> received(5);

  const auto mismatch = [&] {
    Exchange exchange(communicator, TraceKind::exchange, operation, n);
    exchange.receive(data(received), size(received), (communicator.rank() + n - 1) % n);
    exchange.send(data(sent), size(sent), (communicator.rank() + 1) % n);
    exchange.finish();
  };

  const ReturningErrors returning;
  EXPECT_THROW(mismatch(), MpiError);
}

}  // namespace
