// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/comm/detail/description.hpp>
#include <tessera/comm/detail/message_pieces.hpp>
#include <tessera/comm/detail/state.hpp>
#include <tessera/comm/exchange.hpp>
#include <tessera/error/error.hpp>

#include "../support/errors.hpp"
#include "../support/variable.hpp"
#include "groups.hpp"

namespace {

using namespace tessera;
using testing::AnyOf;
using testing::HasSubstr;

constexpr auto variable = "TESSERA_MESSAGE_PIECES";

/// A communicator of its own, made anew.
class Fresh {
 public:
  ~Fresh() { MPI_Comm_free(&user_); }
  Communicator communicator() const { return Communicator::duplicate_of(user_); }
  std::int64_t longest() const { return communicator().state().longest_in_pieces; }

 private:
  MPI_Comm user_ = test::duplicate_world();
};

/// Bytes that differ from place to place and from rank to rank.
std::vector<std::byte> bytes_of(int rank, std::int64_t count) {
  std::vector<std::byte> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(static_cast<std::byte>((i * 31 + i / 8192 + 7 * rank) % 251));
  return result;
}

TEST(MessagePieces, what_the_variable_of_rank_0_says_is_used_by_all) {
  const int rank = test::world().rank();
  for (const std::int64_t bytes : {0, 20000}) {
    const test::Variable value(variable, rank == 0 ? std::to_string(bytes) : "malformed");
    EXPECT_EQ(Fresh().longest(), bytes);
  }
}

TEST(MessagePieces, another_value_is_an_error_on_every_rank) {
  for (const auto* text : {"auto", "-1", "32k"}) {
    const test::Variable value(variable, text);
    const Fresh fresh;
    EXPECT_THAT(
        test::message_of<InvalidArgument>([&] { fresh.communicator(); }),
        HasSubstr(std::string("TESSERA_MESSAGE_PIECES: expected a number of bytes, got \"") + text +
                  '"'));
  }
}

TEST(MessagePieces, longer_than_64_kib_are_an_error_on_every_rank) {
  const test::Variable value(variable, "65537");
  const Fresh fresh;
  EXPECT_EQ(test::message_of<InvalidArgument>([&] { fresh.communicator(); }),
            "TESSERA_MESSAGE_PIECES: expected at most 65536, got 65537");
}

TEST(MessagePieces, all_ranks_measure_the_same_where_they_exchange_messages) {
  const test::Variable nodes("TESSERA_NODES", "each");
  const Fresh fresh;
  const auto group = all_ranks(fresh.communicator());

  const auto all = all_gather_value(group, fresh.longest(), TraceKind::metadata, "tessera::test");

  for (const auto longest : all) EXPECT_EQ(longest, all.front());
  EXPECT_THAT(all.front(), AnyOf(0, 16 << 10, 32 << 10));
}

TEST(MessagePieces, are_not_measured_where_all_travels_through_the_window) {
  const Fresh fresh;
  std::int64_t longest_message = 0;
  const TraceScope scope([&](const TraceEvent& event) {
    if (event.messages_sent > 0)
      longest_message = std::max(longest_message, event.bytes_sent / event.messages_sent);
  });
  const auto& state = fresh.communicator().state();
  if (state.node_map.nodes() > 1 || !state.window) GTEST_SKIP() << "there is no window for all";
  EXPECT_LT(longest_message, 8192);
  EXPECT_EQ(state.longest_in_pieces, 0);
}

TEST(MessagePieces, the_description_says_up_to_what_length) {
  const auto description = [](const char* bytes) {
    const test::Variable value(variable, bytes);
    return detail::description(Fresh().communicator());
  };

  EXPECT_THAT(description("32768"), HasSubstr("; up to 32 KiB in pieces of 8 KiB\n"));
  EXPECT_THAT(description("0"), testing::Not(HasSubstr("pieces")));
}

TEST(MessagePieces, bring_the_same_and_count_as_one_message) {
  const test::Variable value(variable, "32768");
  const Fresh fresh;
  const auto communicator = fresh.communicator();
  const int n = communicator.size();
  const int previous = (communicator.rank() + n - 1) % n;
  for (const std::int64_t count : {8191, 8192, 8193, 16384, 20000, 32767, 32768, 32769, 100000}) {
    const auto sent = bytes_of(communicator.rank(), count);
    std::vector<std::byte> received(sent.size());
    std::vector<TraceEvent> events;
    const TraceScope scope([&](const TraceEvent& event) { events.push_back(event); });
    Exchange exchange(communicator, TraceKind::exchange, "tessera::test", n);
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
    EXPECT_EQ(events.back().messages_sent, 1) << count;
    EXPECT_EQ(events.back().messages_received, 1) << count;
  }
}

/// Receives what failed calls have left; long enough for all to arrive.
void take_leftovers(MPI_Comm comm) {
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

TEST(MessagePieces, that_arrive_as_a_call_gives_up_meet_no_receive_of_later_ones) {
  const test::Variable value(variable, "32768");
  const Fresh fresh;
  const auto communicator = fresh.communicator();
  const int n = communicator.size();
  if (n == 1) GTEST_SKIP() << "a message to oneself arrives at once";
  const auto sent = bytes_of(communicator.rank(), 12000);
  std::vector<std::byte> received(sent.size());
  MPI_Barrier(MPI_COMM_WORLD);
  {
    Exchange exchange(communicator, TraceKind::exchange, "tessera::test", n);
    exchange.receive(received.data(), 12000, (communicator.rank() + n - 1) % n);
    exchange.send(sent.data(), 12000, (communicator.rank() + 1) % n);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    exchange.abandon();
  }
  take_leftovers(communicator.state().handle);

  EXPECT_EQ(all_gather_value(all_ranks(communicator), 1, TraceKind::metadata, "tessera::test"),
            std::vector<int>(static_cast<std::size_t>(n), 1));
}

TEST(MessagePieces, keep_the_order_of_messages_between_two_ranks) {
  const test::Variable value(variable, "32768");
  const Fresh fresh;
  const auto communicator = fresh.communicator();
  const int n = communicator.size();
  const int previous = (communicator.rank() + n - 1) % n;
  const std::vector<std::int64_t> counts{30000, 5, 9000, 40000, 16384};
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  for (const auto count : counts) {
    sent.push_back(bytes_of(communicator.rank(), count));
    received.emplace_back(static_cast<std::size_t>(count));
  }
  Exchange exchange(communicator, TraceKind::exchange, "tessera::test", n);
  for (std::size_t i = 0; i < counts.size(); ++i)
    exchange.receive(received[i].data(), counts[i], previous);
  for (std::size_t i = 0; i < counts.size(); ++i)
    exchange.send(sent[i].data(), counts[i], (communicator.rank() + 1) % n);
  exchange.finish();

  for (std::size_t i = 0; i < counts.size(); ++i)
    EXPECT_EQ(received[i], bytes_of(previous, counts[i]));
}

}  // namespace
