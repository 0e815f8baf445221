// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <tessera/sharding/dim_split.hpp>

#include "random_spec.hpp"

namespace tessera::test {
namespace {

std::vector<std::int64_t> chunk_sizes(std::int64_t extent, int parts) {
  std::vector<std::int64_t> sizes;
  for (int part = 0; part < parts; ++part) sizes.push_back(chunk({0, extent}, parts, part).size());
  return sizes;
}

using Sizes = std::vector<std::int64_t>;

TEST(Chunk, sizes_are_those_of_torch_chunk) {
  EXPECT_EQ(chunk_sizes(12, 4), (Sizes{3, 3, 3, 3}));
  EXPECT_EQ(chunk_sizes(13, 4), (Sizes{4, 4, 4, 1}));
  EXPECT_EQ(chunk_sizes(14, 4), (Sizes{4, 4, 4, 2}));
  EXPECT_EQ(chunk_sizes(31, 4), (Sizes{8, 8, 8, 7}));
}

TEST(Chunk, last_parts_are_empty_when_extent_is_small) {
  EXPECT_EQ(chunk_sizes(9, 8), (Sizes{2, 2, 2, 2, 1, 0, 0, 0}));
  EXPECT_EQ(chunk_sizes(2, 4), (Sizes{1, 1, 0, 0}));
  EXPECT_EQ(chunk_sizes(1, 3), (Sizes{1, 0, 0}));
  EXPECT_EQ(chunk_sizes(0, 3), (Sizes{0, 0, 0}));
}

TEST(Chunk, of_a_range_begins_where_the_range_does) {
  EXPECT_EQ(chunk({10, 20}, 3, 0), (Interval{10, 14}));
  EXPECT_EQ(chunk({10, 20}, 3, 2), (Interval{18, 20}));
  EXPECT_EQ(chunk({10, 12}, 4, 3), (Interval{12, 12}));
}

TEST(Chunk, holds_beyond_32_bits) {
  constexpr std::int64_t extent = (std::int64_t{1} << 40) + 1;

  EXPECT_EQ(chunk({0, extent}, 1 << 20, 0).size(), (1 << 20) + 1);
  EXPECT_EQ(chunk({0, extent}, 2, 1).size(), extent / 2);
}

TEST(DimSplit, unsplit_dim_is_one_part) {
  const DimSplit split{7, {}, {}, {}};

  EXPECT_EQ(split.parts(), 1);
  EXPECT_EQ(split.interval(std::vector{3, 1}), (Interval{0, 7}));
  EXPECT_EQ(split.largest_part(), 7);
  EXPECT_EQ(split.explicit_boundaries(), (Sizes{0, 7}));
}

TEST(DimSplit, nested_splits_cut_what_the_earlier_ones_left) {
  const DimSplit split{10, {0, 1}, {2, 2}, {}};

  EXPECT_EQ(split.interval(std::vector{0, 0}), (Interval{0, 3}));
  EXPECT_EQ(split.interval(std::vector{0, 1}), (Interval{3, 5}));
  EXPECT_EQ(split.interval(std::vector{1, 0}), (Interval{5, 8}));
  EXPECT_EQ(split.interval(std::vector{1, 1}), (Interval{8, 10}));
  EXPECT_EQ(split.explicit_boundaries(), (Sizes{0, 3, 5, 8, 10}));
  EXPECT_EQ(split.largest_part(), 3);
}

TEST(DimSplit, order_of_mesh_dims_is_the_split_order) {
  const DimSplit split{10, {1, 0}, {3, 2}, {}};

  EXPECT_EQ(split.interval(std::vector{0, 0}), (Interval{0, 2}));
  EXPECT_EQ(split.interval(std::vector{1, 0}), (Interval{2, 4}));
  EXPECT_EQ(split.interval(std::vector{0, 2}), (Interval{8, 9}));
  EXPECT_EQ(split.interval(std::vector{1, 2}), (Interval{9, 10}));
}

TEST(DimSplit, empty_part_lies_at_the_extent_also_when_nested) {
  const DimSplit split{9, {0, 1}, {2, 4}, {}};

  EXPECT_EQ(split.interval(std::vector{0, 2}), (Interval{4, 5}));
  EXPECT_EQ(split.interval(std::vector{0, 3}), (Interval{9, 9}));
  EXPECT_EQ(split.interval(std::vector{1, 3}), (Interval{8, 9}));
}

TEST(DimSplit, boundaries_replace_the_chunk_rule) {
  const DimSplit split{10, {0, 1}, {2, 2}, {0, 1, 1, 7, 10}};

  EXPECT_EQ(split.interval(std::vector{0, 0}), (Interval{0, 1}));
  EXPECT_EQ(split.interval(std::vector{0, 1}), (Interval{10, 10}));
  EXPECT_EQ(split.interval(std::vector{1, 0}), (Interval{1, 7}));
  EXPECT_EQ(split.interval(std::vector{1, 1}), (Interval{7, 10}));
  EXPECT_EQ(split.largest_part(), 6);
}

/// All coordinates of the splitting mesh dims, in split order.
std::vector<std::vector<int>> part_coordinates(const DimSplit& split) {
  std::vector<std::vector<int>> result;
  const MeshLayout grid(split.sizes);
  for (int part = 0; part < grid.size(); ++part) result.push_back(grid.coordinate(part));
  return result;
}

struct Meeting {
  DimSplit split;
  int mesh_dims;
  Interval range;
  std::vector<int> fixed;
};

Meeting random_meeting(Generator& generator) {
  const auto spec = [&] {
    for (;;) {
      auto candidate = random_spec(generator);
      if (candidate.tensor_dims() > 0) return candidate;
    }
  }();
  const auto& split = spec.split(static_cast<std::size_t>(below(generator, spec.tensor_dims())));
  const auto bounds = random_cuts(generator, split.extent, 3);
  std::vector<int> fixed;
  for (const int size : spec.layout().shape())
    fixed.push_back(below(generator, 3) == 0 ? below(generator, size) : -1);
  return {split, spec.layout().ndim(), {bounds[1], bounds[2]}, fixed};
}

TEST(PartsMeeting, are_those_that_a_search_of_all_finds) {
  Generator generator(2);
  for (int i = 0; i < 5000; ++i) {
    const auto [split, mesh_dims, range, fixed] = random_meeting(generator);
    std::vector<Part> expected;
    for (const auto& part : part_coordinates(split)) {
      std::vector<int> coordinate(static_cast<std::size_t>(mesh_dims), 0);
      bool is_admitted = true;
      for (std::size_t k = 0; k < part.size(); ++k) {
        const auto d = static_cast<std::size_t>(split.mesh_dims[k]);
        coordinate[d] = part[k];
        is_admitted = is_admitted && (fixed[d] < 0 || fixed[d] == part[k]);
      }
      const auto held = split.sections(coordinate);
      int index = 0;
      for (std::size_t k = 0; k < part.size(); ++k) index = index * split.sizes[k] + part[k];
      for (std::size_t k = 0; k < part.size(); ++k)
        EXPECT_EQ(split.coordinate(index, k), part[k]) << "case " << i;
      const auto common = common_extent(held, Sections(range));
      if (is_admitted && common > 0) expected.push_back({index, held});
    }

    const auto found = parts_meeting(split, range, fixed);

    ASSERT_EQ(found.size(), expected.size()) << "case " << i;
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].index, expected[k].index) << "case " << i;
      EXPECT_EQ(found[k].sections, expected[k].sections) << "case " << i;
    }
  }
}

TEST(PartsMeeting, of_a_hundred_thousand_parts_are_found_at_once) {
  const DimSplit chunked{1'000'000'000, {0, 1}, {1000, 100}, {}};
  DimSplit cut = chunked;
  cut.boundaries = chunked.explicit_boundaries();
  cut.boundaries[1] = 5000;
  const std::vector<int> any(2, -1);

  for (int repeat = 0; repeat < 10'000; ++repeat) {
    EXPECT_EQ(parts_meeting(chunked, {500'000'000, 500'010'001}, any).size(), 2u);
    EXPECT_EQ(parts_meeting(cut, {500'000'000, 500'010'001}, any).size(), 2u);
  }
}

}  // namespace
}  // namespace tessera::test
