// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <string>

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/comm/collectives.hpp>

#include "../support/groups.hpp"
#include "comm/limit_scope.hpp"

namespace {

using namespace tessera;
using test::group_of;
using test::rank_lists;
using test::world;

constexpr auto operation = "test";

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(int rank, std::size_t size) {
  return std::string(size, static_cast<char>('a' + rank));
}

std::vector<TraceEvent> events_of(const auto& action) {
  std::vector<TraceEvent> events;
  const TraceScope scope([&](const TraceEvent& event) { events.push_back(event); });
  action();
  return events;
}

int rounds(int size) {
  return std::bit_width(static_cast<unsigned>(size - 1));
}

TEST(AllGather, gives_everyones_value_by_position_for_every_list_of_ranks) {
  const auto communicator = world();

  for (const auto& ranks : rank_lists(communicator.size()))
    if (const auto group = group_of(communicator, ranks)) {
      const auto values =
          all_gather_value(*group, communicator.rank(), TraceKind::metadata, operation);

      EXPECT_EQ(values, ranks);
    }
}

TEST(AllGather, gives_blocks_of_many_bytes) {
  const auto communicator = world();
  const auto group = all_ranks(communicator);
  const auto mine = text_of(communicator.rank(), 300'000);

  const auto all =
      all_gather(group, std::as_bytes(std::span(mine)), TraceKind::metadata, operation);

  std::string expected;
  for (int rank = 0; rank < communicator.size(); ++rank) expected += text_of(rank, 300'000);
  EXPECT_EQ(all == bytes_of(expected), true);
}

TEST(AllGather, of_nothing_gives_nothing) {
  const auto all = all_gather(all_ranks(world()), {}, TraceKind::metadata, operation);

  EXPECT_TRUE(all.empty());
}

TEST(AllGather, emits_one_event_with_what_was_sent) {
  const auto group = all_ranks(world());
  const int n = group.size();

  const auto events =
      events_of([&] { all_gather_value(group, 1.5, TraceKind::agreement, operation); });

  ASSERT_EQ(events.size(), n == 1 ? 0U : 1U);
  if (n == 1) return;
  EXPECT_EQ(events[0].kind, TraceKind::agreement);
  EXPECT_STREQ(events[0].operation, operation);
  EXPECT_EQ(events[0].group_size, n);
  EXPECT_EQ(events[0].bytes_sent, 8 * (n - 1));
  EXPECT_EQ(events[0].bytes_received, 8 * (n - 1));
  EXPECT_EQ(events[0].messages_sent, rounds(n));
  EXPECT_EQ(events[0].messages_received, rounds(n));
  EXPECT_GE(events[0].seconds, 0.0);
}

TEST(AllGatherV, gives_blocks_of_different_sizes_for_every_list_of_ranks) {
  const auto communicator = world();
  const auto size_of = [](int rank) { return static_cast<std::size_t>(rank * rank % 5); };

  for (const auto& ranks : rank_lists(communicator.size()))
    if (const auto group = group_of(communicator, ranks)) {
      const auto mine = text_of(communicator.rank(), size_of(communicator.rank()));
      const auto all =
          all_gather_v(*group, std::as_bytes(std::span(mine)), TraceKind::metadata, operation);

      std::vector<std::vector<std::byte>> expected;
      for (const int rank : ranks) expected.push_back(bytes_of(text_of(rank, size_of(rank))));
      EXPECT_EQ(all, expected);
    }
}

TEST(AllGatherV, of_empty_blocks_sends_sizes_only) {
  const auto group = all_ranks(world());
  const int n = group.size();

  const auto events = events_of([&] { all_gather_v(group, {}, TraceKind::metadata, operation); });

  EXPECT_EQ(events.size(), n == 1 ? 0U : 1U);
  for (const auto& event : events) {
    EXPECT_EQ(event.bytes_sent, 8 * (n - 1));
    EXPECT_EQ(event.messages_sent, rounds(n));
  }
}

TEST(Broadcast, gives_the_bytes_of_every_root_for_every_list_of_ranks) {
  const auto communicator = world();

  for (const auto& ranks : rank_lists(communicator.size()))
    for (std::size_t root = 0; root < ranks.size(); ++root)
      if (const auto group = group_of(communicator, ranks)) {
        int value = communicator.rank();
        broadcast(*group, std::as_writable_bytes(std::span(&value, 1)), static_cast<int>(root),
                  TraceKind::metadata, operation);

        EXPECT_EQ(value, ranks[root]);
      }
}

TEST(Broadcast, sends_one_message_less_than_there_are_ranks) {
  const auto group = all_ranks(world());
  std::int64_t sent = 0;
  double value = 0;

  const auto events = events_of([&] {
    broadcast(group, std::as_writable_bytes(std::span(&value, 1)), 0, TraceKind::metadata,
              operation);
  });
  for (const auto& event : events) sent += event.messages_sent;
  const auto all = all_gather_value(group, sent, TraceKind::metadata, operation);

  EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::int64_t{0}), group.size() - 1);
}

TEST(Barrier, returns_when_all_have_called_it) {
  const auto communicator = world();

  for (const auto& ranks : rank_lists(communicator.size()))
    if (const auto group = group_of(communicator, ranks)) {
      const auto events = events_of([&] { barrier(*group, TraceKind::agreement, operation); });

      EXPECT_EQ(events.size(), ranks.size() == 1 ? 0U : 1U);
    }
}

TEST(Collectives, work_with_messages_of_several_segments) {
  const auto communicator = world();
  const auto group = all_ranks(communicator);
  const detail::LimitScope limit(communicator, 3);
  auto value = std::string("root ") + std::to_string(communicator.rank());

  const auto all =
      all_gather_value(group, 1000 + communicator.rank(), TraceKind::metadata, operation);
  broadcast(group, std::as_writable_bytes(std::span(value)), 0, TraceKind::metadata, operation);

  std::vector<int> expected;
  for (int rank = 0; rank < communicator.size(); ++rank) expected.push_back(1000 + rank);
  EXPECT_EQ(all, expected);
  EXPECT_EQ(value, "root 0");
}

}  // namespace
