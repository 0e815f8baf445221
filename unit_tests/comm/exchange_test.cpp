// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>

#include "../support/groups.hpp"
#include "comm/communicator_state.hpp"
#include "comm/exchange.hpp"
#include "comm/limit_scope.hpp"
#include "node/nodes.hpp"

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

/// Bytes that differ from place to place and from rank to rank.
std::vector<std::byte> bytes_of(int rank, std::int64_t count) {
  std::vector<std::byte> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(static_cast<std::byte>((i * 31 + i / 8192 + 7 * rank) % 251));
  return result;
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

TEST(Exchange, sends_messages_above_the_limit_in_segments) {
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

TEST(Exchange, sends_a_message_of_exactly_the_limit_as_one) {
  const auto communicator = world();
  const detail::LimitScope limit(communicator, 400);

  const auto [received, events] = send_to_next(communicator, 100);

  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].messages_sent, 1);
}

TEST(Exchange, completes_a_message_with_its_last_segment) {
  const auto communicator = world();
  const int n = communicator.size();
  constexpr std::int64_t part = 8192;
  const detail::LimitScope limit(communicator, part);
  const int previous = (communicator.rank() + n - 1) % n;
  for (const std::int64_t count : {8191, 8192, 8193, 16384, 20000, 32767, 32768, 32769, 100000}) {
    const auto sent = bytes_of(communicator.rank(), count);
    std::vector<std::byte> received(sent.size());
    std::vector<TraceEvent> events;
    const TraceScope scope([&](const TraceEvent& event) { events.push_back(event); });
    Exchange exchange(communicator, TraceKind::exchange, operation, n);
    const auto arriving = exchange.receive(received.data(), count, previous);
    const auto leaving = exchange.send(sent.data(), count, (communicator.rank() + 1) % n);
    exchange.wait([&] { return exchange.is_complete(arriving); }, [] {});
    EXPECT_EQ(received, bytes_of(previous, count)) << count;
    while (!exchange.test(leaving)) {
    }
    while (!exchange.test(arriving)) {
    }
    exchange.finish();
    EXPECT_EQ(events.size(), 1U);
    EXPECT_EQ(events.back().bytes_sent, count);
    EXPECT_EQ(events.back().messages_sent, (count + part - 1) / part) << count;
    EXPECT_EQ(events.back().messages_received, (count + part - 1) / part) << count;
  }
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

TEST(Exchange, keeps_the_order_of_messages_of_several_segments) {
  const auto communicator = world();
  const int n = communicator.size();
  const detail::LimitScope limit(communicator, 8192);
  const int previous = (communicator.rank() + n - 1) % n;
  const std::vector<std::int64_t> counts{30000, 5, 9000, 40000, 16384};
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  for (const auto count : counts) {
    sent.push_back(bytes_of(communicator.rank(), count));
    received.emplace_back(static_cast<std::size_t>(count));
  }
  Exchange exchange(communicator, TraceKind::exchange, operation, n);
  for (std::size_t i = 0; i < counts.size(); ++i)
    exchange.receive(received[i].data(), counts[i], previous);
  for (std::size_t i = 0; i < counts.size(); ++i)
    exchange.send(sent[i].data(), counts[i], (communicator.rank() + 1) % n);
  exchange.finish();

  for (std::size_t i = 0; i < counts.size(); ++i)
    EXPECT_EQ(received[i], bytes_of(previous, counts[i]));
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

/// A communicator of its own, made anew.
class Fresh {
 public:
  ~Fresh() { MPI_Comm_free(&user_); }
  Communicator communicator() const { return detail::communicator_on_nodes(user_); }

 private:
  MPI_Comm user_ = test::duplicate_world();
};

/// Receives what failed calls have left; long enough for all to arrive.
void take_unreceived_messages(MPI_Comm comm) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (const double start = MPI_Wtime(); MPI_Wtime() < start + 0.05;) {
    MPI_Message message;
    MPI_Status status;
    int is_there = 0;
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &is_there, &message, &status);
    if (!is_there) continue;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<std::byte> bytes(static_cast<std::size_t>(count));
    MPI_Mrecv(bytes.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Exchange, parts_that_arrive_as_a_call_gives_up_meet_no_receive_of_later_ones) {
  const Fresh fresh;
  const auto communicator = fresh.communicator();
  const int n = communicator.size();
  if (n == 1) GTEST_SKIP() << "a message to oneself arrives at once";
  // So short that MPI takes them without the receiver: MPICH 5 waits for it from 8 KiB on.
  const detail::LimitScope limit(communicator, 1024);
  const auto sent = bytes_of(communicator.rank(), 1500);
  std::vector<std::byte> received(sent.size());
  MPI_Barrier(MPI_COMM_WORLD);
  {
    Exchange exchange(communicator, TraceKind::exchange, operation, n);
    exchange.receive(received.data(), 1500, (communicator.rank() + n - 1) % n);
    exchange.send(sent.data(), 1500, (communicator.rank() + 1) % n);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    exchange.abandon();
  }
  take_unreceived_messages(communicator.state().handle);

  EXPECT_EQ(all_gather_value(all_ranks(communicator), 1, TraceKind::metadata, operation),
            std::vector<int>(static_cast<std::size_t>(n), 1));
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
  if (n == 1 && is_open_mpi()) GTEST_SKIP() << "Open MPI splits what a rank sends to itself";
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
