// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/sharding/sections.hpp>

namespace {

using namespace tessera;

using Generator = std::mt19937;

int draw(Generator& generator, int least, int most) {
  return std::uniform_int_distribution(least, most)(generator);
}

Section random_section(Generator& generator, int most_count) {
  const int block = draw(generator, 1, 9);
  const int count = draw(generator, 0, most_count);
  if (count == 0) return {draw(generator, 0, 20)};
  const int last = draw(generator, 1, block);
  const int begin = draw(generator, 0, 20);
  if (count == 1) return section_of({begin, begin + last});
  return {begin, block, block + draw(generator, 1, 12), count, last};
}

std::vector<std::int64_t> indices_of(const std::vector<Section>& sections) {
  std::vector<std::int64_t> result;
  for (const auto& section : sections)
    for (std::int64_t i = 0; i < section.size(); ++i)
      result.push_back(section.begin + i / section.block * section.period + i % section.block);
  return result;
}

struct Pair {
  std::int64_t from;
  std::int64_t to;
  auto operator<=>(const Pair&) const = default;
};

/// Pairs of local indices of the same global index, found by looking at all of them.
std::multiset<Pair> common_pairs(const std::vector<Section>& from, const std::vector<Section>& to) {
  const auto a = indices_of(from);
  const auto b = indices_of(to);
  std::multiset<Pair> result;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k)
      if (a[i] == b[k]) result.insert({static_cast<std::int64_t>(i), static_cast<std::int64_t>(k)});
  return result;
}

std::multiset<Pair> pairs_of(const std::vector<IndexRun>& runs) {
  std::multiset<Pair> result;
  for (const auto& run : runs)
    for (std::int64_t i = 0; i < run.extent; ++i)
      result.insert({run.from.offset + i / run.block * run.from.stride + i % run.block,
                     run.to.offset + i / run.block * run.to.stride + i % run.block});
  return result;
}

TEST(Overlap, is_what_a_search_of_all_indices_finds) {
  Generator generator(1);
  for (int i = 0; i < 50000; ++i) {
    std::vector<Section> from{random_section(generator, 8)};
    std::vector<Section> to{random_section(generator, 8)};
    if (i % 4 == 0) from.push_back(random_section(generator, 2));
    if (i % 5 == 0) to.push_back(random_section(generator, 2));

    const auto runs = common_runs(from, to);

    const auto expected = common_pairs(from, to);
    ASSERT_EQ(pairs_of(runs), expected) << "case " << i;
    ASSERT_EQ(common_extent(from, to), std::ssize(expected)) << "case " << i;
    for (const auto& run : runs) {
      ASSERT_GE(run.extent, run.block) << "case " << i;
      ASSERT_GE(run.block, 1) << "case " << i;
    }
  }
}

TEST(Overlap, swapped_has_the_sides_swapped) {
  Generator generator(2);
  for (int i = 0; i < 5000; ++i) {
    const std::vector<Section> a{random_section(generator, 8)};
    const std::vector<Section> b{random_section(generator, 8)};

    std::multiset<Pair> swapped;
    for (const auto& [from, to] : pairs_of(common_runs(b, a))) swapped.insert({to, from});

    ASSERT_EQ(pairs_of(common_runs(a, b)), swapped) << "case " << i;
  }
}

TEST(Overlap, of_periods_has_as_many_runs_as_blocks_can_differ) {
  Generator generator(3);
  for (int i = 0; i < 5000; ++i) {
    const auto a = random_section(generator, 100);
    const auto b = random_section(generator, 100);
    if (a.count < 2 || b.count < 2) continue;

    const auto runs = common_runs(std::vector{a}, std::vector{b});

    const auto divisor = std::gcd(a.period, b.period);
    EXPECT_LE(std::ssize(runs), (a.block + b.block - 1 + divisor - 1) / divisor + 2);
  }
}

TEST(Overlap, of_an_interval_and_a_period_has_at_most_two_runs) {
  Generator generator(4);
  for (int i = 0; i < 5000; ++i) {
    const auto a = random_section(generator, 100);
    const auto begin = draw(generator, 0, 300);
    const auto b = section_of({begin, begin + draw(generator, 1, 300)});

    EXPECT_LE(common_runs(std::vector{a}, std::vector{b}).size(), 2u);
    EXPECT_LE(common_runs(std::vector{b}, std::vector{a}).size(), 2u);
  }
}

TEST(Overlap, of_many_small_blocks_and_few_large_ones_is_short) {
  const Section small{0, 1, 2, 2'000'000, 1};
  const Section large{1'000, 1'000'000, 2'000'000, 2, 1'000'000};

  EXPECT_LE(common_runs(std::vector{small}, std::vector{large}).size(), 4u);
  EXPECT_LE(common_runs(std::vector{large}, std::vector{small}).size(), 4u);
}

TEST(Overlap, holds_close_to_two_to_the_63) {
  constexpr std::int64_t extent = INT64_MAX - 10;
  constexpr std::int64_t block = (std::int64_t{1} << 40) - 1;
  constexpr std::int64_t period = 3 * block;
  const auto count = extent / period;
  const Section all{block, block, period, count, block};
  const Section single{0, 1, 2, extent / 2, 1};

  const auto runs = common_runs(std::vector{all}, std::vector{single});

  std::int64_t elements = 0;
  for (const auto& run : runs) elements += run.extent;
  EXPECT_NEAR(static_cast<double>(elements), static_cast<double>(all.size()) / 2,
              static_cast<double>(count));
}

TEST(Overlap, of_indices_close_to_two_to_the_63_is_that_of_small_ones) {
  constexpr std::int64_t most = 512;  // above each index
  constexpr auto largest = INT64_MAX;
  Generator generator(5);
  for (int i = 0; i < 20000; ++i) {
    const auto a = random_section(generator, 15);
    const auto b = random_section(generator, 15);
    const auto moved = [](Section section) {
      section.begin += largest - most;
      return std::vector{section};
    };
    const auto scaled = [](Section section) {
      constexpr auto factor = largest / most;
      return std::vector<Section>{{section.begin * factor, section.block * factor,
                                   section.period * factor, section.count, section.last * factor}};
    };

    const auto runs = common_runs(std::vector{a}, std::vector{b});

    ASSERT_EQ(common_runs(moved(a), moved(b)), runs) << "case " << i;
    ASSERT_EQ(common_extent(scaled(a), scaled(b)) / (largest / most),
              common_extent(std::vector{a}, std::vector{b}))
        << "case " << i;
  }
}

TEST(Overlap, of_equal_sections_is_one_run) {
  const std::vector<Section> blocks{{2, 2, 6, 5, 1}};
  const std::vector<Section> head_and_tail{section_of({0, 2}), section_of({6, 8})};

  EXPECT_EQ(common_runs(blocks, blocks), (std::vector<IndexRun>{{9, 9, {0, 9}, {0, 9}}}));
  EXPECT_EQ(common_runs(head_and_tail, head_and_tail),
            (std::vector<IndexRun>{{4, 4, {0, 4}, {0, 4}}}));
}

TEST(Overlap, of_a_block_cyclic_dim_and_a_chunk_is_a_run_of_blocks) {
  const std::vector<Section> cyclic{{64, 64, 128, 32, 64}};
  const std::vector<Section> chunk{section_of({0, 2048})};

  EXPECT_EQ(common_runs(cyclic, chunk), (std::vector<IndexRun>{{1024, 64, {0, 64}, {64, 128}}}));
}

TEST(Sections, local_and_global_indices_are_inverse) {
  Sections sections;
  sections.push_back({2, 2, 6, 3, 1});

  EXPECT_EQ(sections.extent(), 5);
  EXPECT_EQ(sections.global_index(3), 9);
  EXPECT_EQ(sections.global_index(4), 14);
  EXPECT_EQ(sections.local_index(14), 4);
  EXPECT_EQ(sections.local_index(15), std::nullopt);
  EXPECT_EQ(sections.local_index(4), std::nullopt);
  EXPECT_EQ(sections.hull(), (Interval{2, 15}));
}

TEST(Sections, that_follow_each_other_are_one) {
  Sections sections;
  sections.push_back(section_of({0, 2}));
  sections.push_back(section_of({5, 5}));
  sections.push_back(section_of({2, 5}));

  EXPECT_TRUE(sections.is_interval());
  EXPECT_EQ(to_string(sections), "0:5");
  EXPECT_EQ(to_string(Sections({7, 7})), "7:7");
}

}  // namespace
