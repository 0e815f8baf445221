// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "file/file_blocks.hpp"

namespace {

using namespace tessera;
using detail::block_of;
using detail::FileBlock;
using detail::Repeat;

using Repeats = std::vector<Repeat>;

std::int64_t total(const std::vector<FileBlock>& blocks) {
  std::int64_t result = 0;
  for (const auto& block : blocks) result += block.bytes();
  return result;
}

TEST(FileBlock, of_a_row_major_box_has_a_run_for_each_row) {
  const FileArray array{.offset = 100, .element_size = 8, .shape = {10, 10}};

  const auto block = block_of(array, {{2, 1}, {2, 4}});

  EXPECT_EQ(block.first_byte, 100 + 168);
  EXPECT_EQ(block.repeats, (Repeats{{32, 1}, {2, 80}}));
  EXPECT_EQ(block.bytes(), 64);
  EXPECT_EQ(block.end_byte(), 100 + 168 + 80 + 32);
}

TEST(FileBlock, of_a_column_major_box_has_a_run_for_each_column) {
  const FileArray array{.element_size = 8, .shape = {10, 20}, .order = StorageOrder::column_major};

  const auto block = block_of(array, {{2, 1}, {2, 4}});

  EXPECT_EQ(block.first_byte, 96);
  EXPECT_EQ(block.repeats, (Repeats{{16, 1}, {4, 80}}));
}

TEST(FileBlock, of_whole_rows_is_one_run) {
  const FileArray array{.element_size = 4, .shape = {6, 3, 5}};

  const auto block = block_of(array, {{2, 0, 0}, {3, 3, 5}});

  EXPECT_EQ(block.first_byte, 120);
  EXPECT_EQ(block.repeats, (Repeats{{180, 1}}));
}

TEST(FileBlock, of_one_element_is_one_run) {
  EXPECT_EQ(block_of({.element_size = 4, .shape = {}}, {}).repeats, (Repeats{{4, 1}}));
  EXPECT_EQ(block_of({.element_size = 4, .shape = {3, 3}}, {{1, 1}, {1, 1}}).repeats,
            (Repeats{{4, 1}}));
}

TEST(FileBlock, keeps_offsets_and_strides_beyond_32_bits) {
  const std::int64_t big = 3'000'000'000;
  const FileArray array{.element_size = 8, .shape = {big, big / 1000}};

  const auto block = block_of(array, {{big - 1, 5}, {1, 7}});

  EXPECT_EQ(block.first_byte, ((big - 1) * (big / 1000) + 5) * 8);
  EXPECT_EQ(block.repeats, (Repeats{{56, 1}}));
}

TEST(Segments, leaves_what_is_within_the_limit) {
  const FileBlock block{10, {{100, 1}, {4, 1000}}};

  const auto parts = detail::segments_of(block, 4096);

  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].repeats, block.repeats);
}

TEST(Segments, splits_a_long_run) {
  const std::int64_t bytes = 5'000'000'000;

  const auto parts = detail::segments_of({7, {{bytes, 1}}}, 1 << 30);

  ASSERT_EQ(parts.size(), 5U);
  EXPECT_EQ(parts[1].first_byte, 7 + (std::int64_t{1} << 30));
  EXPECT_EQ(total(parts), bytes);
}

TEST(Segments, splits_the_slowest_dim_first) {
  const auto parts = detail::segments_of({0, {{2048, 1}, {3, 4096}, {5, 65536}}}, 13000);

  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].repeats, (Repeats{{2048, 1}, {3, 4096}, {2, 65536}}));
  EXPECT_EQ(parts[2].repeats, (Repeats{{2048, 1}, {3, 4096}, {1, 65536}}));
  EXPECT_EQ(parts[2].first_byte, 4 * 65536);
}

TEST(Segments, goes_down_to_parts_of_a_run) {
  const auto parts = detail::segments_of({0, {{100, 1}, {3, 4096}, {2, 65536}}}, 64);

  ASSERT_EQ(parts.size(), 12U);
  EXPECT_EQ(parts[0].repeats, (Repeats{{64, 1}}));
  EXPECT_EQ(parts[1].first_byte, 64);
  EXPECT_EQ(parts[1].repeats, (Repeats{{36, 1}}));
  EXPECT_EQ(parts[11].first_byte, 65536 + 2 * 4096 + 64);
  EXPECT_EQ(total(parts), 600);
}

TEST(Segments, bounds_the_number_of_short_runs) {
  const auto parts = detail::segments_of({0, {{8, 1}, {1'000'000'000, 16}}}, 1 << 30);

  EXPECT_EQ(parts[0].repeats[1].count, 1 << 20);
  EXPECT_EQ(total(parts), 8'000'000'000);
}

}  // namespace
