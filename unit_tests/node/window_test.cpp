// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// The protocol of the window over plain memory, with threads as ranks where more than one is
// needed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "node/window.hpp"

namespace {

using namespace tessera::detail;

/// The shared memory of a node, and the windows of its ranks.
class Node {
 public:
  explicit Node(int ranks, std::int64_t slot_bytes = 256) : shape_{ranks, slot_bytes} {
    memory_.resize(static_cast<std::size_t>(shape_.bytes()) + 128);
    void* begin = memory_.data();
    auto size = memory_.size();
    std::align(128, static_cast<std::size_t>(shape_.bytes()), begin, size);
    for (int rank = 0; rank < ranks; ++rank)
      windows_.push_back(
          std::make_unique<SharedWindow>(Window(static_cast<std::byte*>(begin), shape_, rank)));
  }

  SharedWindow& of(int rank) { return *windows_[static_cast<std::size_t>(rank)]; }

 private:
  WindowShape shape_;
  std::vector<std::byte> memory_;
  std::vector<std::unique_ptr<SharedWindow>> windows_;
};

void publish(Lanes& lanes, int reader, int value) {
  auto* const slot = lanes.next(reader);
  ASSERT_NE(slot, nullptr);
  std::memcpy(slot, &value, sizeof value);
  lanes.publish(reader);
}

int value_at(const std::byte* slot) {
  int value = 0;
  std::memcpy(&value, slot, sizeof value);
  return value;
}

TEST(WindowShape, slots_share_the_section) {
  const auto shape = WindowShape::fitting(8, 4 << 20, 256 << 10);

  EXPECT_EQ(shape.slot_bytes, 256 << 10);
  EXPECT_LE(shape.section_bytes(), 4 << 20);
  EXPECT_LE(WindowShape::fitting(64, 4 << 20, 256 << 10).section_bytes(), 4 << 20);
  EXPECT_GT(WindowShape::fitting(64, 4 << 20, 256 << 10).slot_bytes, 0);
}

TEST(WindowShape, there_are_none_where_there_is_no_room) {
  EXPECT_EQ(WindowShape::fitting(2, 1000, 256 << 10).slot_bytes, 0);
  EXPECT_EQ(WindowShape::fitting(1, 4 << 20, 256 << 10).slot_bytes, 0);
}

TEST(Window, writer_waits_for_the_reader_after_two_chunks) {
  Node node(2);
  Lanes writer(node.of(0), 10);
  Lanes reader(node.of(1), 10);
  writer.open(1);

  publish(writer, 1, 7);
  publish(writer, 1, 8);
  EXPECT_EQ(writer.next(1), nullptr);
  EXPECT_FALSE(writer.is_read());
  EXPECT_EQ(value_at(reader.take(0)), 7);
  EXPECT_EQ(writer.next(1), nullptr);
  reader.release(0);
  EXPECT_NE(writer.next(1), nullptr);
  EXPECT_EQ(value_at(reader.take(0)), 8);
  EXPECT_EQ(value_at(reader.take(0)), 8);
  reader.release(0);
  EXPECT_EQ(reader.take(0), nullptr);
  EXPECT_TRUE(writer.is_read());
}

TEST(Window, chunks_may_lie_in_other_memory) {
  Node node(3);
  std::array<std::array<std::byte, 4 * 64>, 3> sections{};
  const SlotMemory slots{{sections[0].data(), sections[1].data(), sections[2].data()}, 64};
  Lanes writer(node.of(2), 10, &slots);
  Lanes reader(node.of(1), 10, &slots);
  writer.open(1);

  publish(writer, 1, 7);
  publish(writer, 1, 8);

  EXPECT_EQ(writer.slot_bytes(), 64);
  EXPECT_EQ(writer.next(1), nullptr);
  EXPECT_EQ(reader.take(2), sections[2].data() + 2 * 64);
  EXPECT_EQ(value_at(reader.take(2)), 7);
  reader.release(2);
  EXPECT_EQ(value_at(reader.take(2)), 8);
  reader.release(2);
  EXPECT_TRUE(writer.is_read());
}

TEST(Window, chunk_of_another_execution_is_not_taken) {
  Node node(2);
  Lanes writer(node.of(0), 10);
  Lanes reader(node.of(1), 12);
  writer.open(1);

  publish(writer, 1, 7);

  EXPECT_EQ(reader.take(0), nullptr);
}

TEST(Window, executions_write_one_after_another) {
  Node node(2);
  auto first = std::make_unique<Lanes>(node.of(0), 10);
  Lanes second(node.of(0), 12);
  first->open(1);
  second.open(1);

  EXPECT_EQ(second.next(1), nullptr);
  publish(*first, 1, 7);
  first->close(1);
  EXPECT_EQ(second.next(1), nullptr);
  {
    Lanes reader(node.of(1), 10);
    EXPECT_EQ(value_at(reader.take(0)), 7);
    reader.release(0);
  }
  publish(second, 1, 8);
  Lanes reader(node.of(1), 12);
  EXPECT_EQ(value_at(reader.take(0)), 8);
}

TEST(Window, execution_that_has_written_all_lets_the_next_one_write) {
  Node node(3);
  Lanes first(node.of(0), 10);
  Lanes second(node.of(0), 12);
  first.open(1);
  first.open(1);
  first.open(2);
  second.open(1);

  publish(first, 1, 7);
  first.close(1);
  EXPECT_EQ(second.next(1), nullptr);
  publish(first, 1, 8);
  first.close(1);
  EXPECT_EQ(second.next(1), nullptr);  // unread
  Lanes reader(node.of(1), 10);
  EXPECT_EQ(value_at(reader.take(0)), 7);
  reader.release(0);

  publish(second, 1, 9);
  EXPECT_EQ(value_at(reader.take(0)), 8);
  Lanes second_reader(node.of(1), 12);
  EXPECT_EQ(value_at(second_reader.take(0)), 9);
}

TEST(Window, what_is_not_read_is_taken_back) {
  Node node(2);
  {
    Lanes writer(node.of(0), 10);
    writer.open(1);
    publish(writer, 1, 7);
    publish(writer, 1, 8);
  }
  Lanes reader(node.of(1), 10);
  EXPECT_EQ(reader.take(0), nullptr);

  Lanes next(node.of(0), 12);
  next.open(1);
  publish(next, 1, 9);
  Lanes next_reader(node.of(1), 12);
  EXPECT_EQ(value_at(next_reader.take(0)), 9);
}

TEST(Window, reader_that_fails_gives_back_what_it_holds) {
  Node node(2);
  Lanes writer(node.of(0), 10);
  writer.open(1);
  publish(writer, 1, 7);
  {
    Lanes reader(node.of(1), 10);
    EXPECT_EQ(value_at(reader.take(0)), 7);
  }
  EXPECT_TRUE(writer.is_read());
}

TEST(Window, writer_learns_which_way_is_cheaper) {
  constexpr std::int64_t bytes = 64 << 10;
  Node node(2, bytes);
  int streamed = 0;
  for (int call = 0; call < 200; ++call) {
    const auto stamp = static_cast<std::uint64_t>(2 * call + 2);
    Lanes writer(node.of(0), stamp);
    Lanes reader(node.of(1), stamp);
    writer.open(1);
    ASSERT_NE(writer.next(1), nullptr);
    const bool streams = writer.streams(1, bytes);
    writer.publish(1);
    ASSERT_NE(reader.take(0), nullptr);
    reader.begin_reading(0);
    if (!streams) std::this_thread::sleep_for(std::chrono::microseconds(100));
    reader.release(0);
    streamed += streams ? 1 : 0;
  }
  EXPECT_GE(streamed, 150);
}

TEST(Window, small_chunks_stay_in_the_cache) {
  Node node(2);
  Lanes writer(node.of(0), 2);
  writer.open(1);
  EXPECT_FALSE(writer.streams(1, 256));
}

/// One rank of a program in which all send numbers to all, again and again; in some rounds all
/// leave once they have sent what fits, whoever has read it.
void exchange_all(Node& node, int ranks, int rank, int rounds, std::vector<std::string>& wrong) {
  for (int round = 0; round < rounds; ++round) {
    Lanes lanes(node.of(rank), 2 * static_cast<std::uint64_t>(round + 1));
    std::mt19937 generator(static_cast<unsigned>(round));
    const int chunks = static_cast<int>(generator() % 7);
    const bool all_leave = generator() % 8 == 0;
    const int to_send = all_leave ? std::min(chunks, WindowShape::slots) : chunks;
    std::vector<int> sent(static_cast<std::size_t>(ranks)), received(sent);
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank) lanes.open(peer);
    int left = (ranks - 1) * (to_send + (all_leave ? 0 : chunks));
    for (; left > 0; std::this_thread::yield())
      for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        auto& next = sent[static_cast<std::size_t>(peer)];
        auto* const slot = next < to_send ? lanes.next(peer) : nullptr;
        if (slot != nullptr) {
          const int value = 1000 * rank + next++;
          std::memcpy(slot, &value, sizeof value);
          std::memcpy(slot + lanes.slot_bytes() - sizeof value, &value, sizeof value);
          lanes.publish(peer);
          --left;
        }
        auto& expected = received[static_cast<std::size_t>(peer)];
        const auto* const got = expected < to_send ? lanes.take(peer) : nullptr;
        if (got == nullptr) continue;
        const int value = 1000 * peer + expected++;
        if (value_at(got) != value || value_at(got + lanes.slot_bytes() - sizeof value) != value)
          wrong[static_cast<std::size_t>(rank)] = "round " + std::to_string(round);
        lanes.release(peer);
        if (!all_leave) --left;
      }
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank) lanes.close(peer);
    while (!all_leave && !lanes.is_read()) std::this_thread::yield();
  }
}

TEST(Window, threads_as_ranks_pass_numbers) {
  for (const int ranks : {2, 3, 5}) {
    Node node(ranks);
    std::vector<std::string> wrong(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] { exchange_all(node, ranks, rank, 2000, wrong); });
    for (auto& thread : threads) thread.join();

    EXPECT_EQ(wrong, std::vector<std::string>(static_cast<std::size_t>(ranks)));
  }
}

}  // namespace
