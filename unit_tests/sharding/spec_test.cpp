// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// DTensorSpec without ranks: local shapes, boundaries, equality and invalid arguments.
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/sharding/spec.hpp>

#include "../support/errors.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

std::vector<Extents> local_shapes(const DTensorSpec& spec) {
  std::vector<Extents> result;
  for (int rank = 0; rank < spec.layout().size(); ++rank) result.push_back(spec.local_shape(rank));
  return result;
}

MeshLayout line(int size) {
  return MeshLayout(std::vector<int>{size});
}

std::string error_of(const std::function<void()>& call) {
  return message_of<InvalidArgument>(call);
}

TEST(DTensorSpec, three_mesh_dims_split_one_tensor_dim_each_or_one_twice) {
  const MeshLayout layout({2, 2, 2});

  const DTensorSpec each(layout, {Shard(0), Shard(1), Shard(2)}, {6, 6, 6});
  const DTensorSpec twice(layout, {Shard(0), Shard(0), Shard(2)}, {12, 3, 6});

  EXPECT_EQ(local_shapes(each), std::vector<Extents>(8, {3, 3, 3}));
  EXPECT_EQ(local_shapes(twice), std::vector<Extents>(8, {3, 3, 3}));
  EXPECT_EQ(each.global_offset(5), (Extents{3, 0, 3}));
  EXPECT_EQ(twice.global_offset(6), (Extents{9, 0, 0}));
}

// The first ranks along each mesh dim hold the larger shards.
TEST(DTensorSpec, rows_of_31) {
  const DTensorSpec rows(line(4), {Shard(0)}, {31, 3});
  const DTensorSpec blocks(MeshLayout({2, 2}), {Shard(0), Shard(1)}, {31, 3});

  EXPECT_EQ(local_shapes(rows), (std::vector<Extents>{{8, 3}, {8, 3}, {8, 3}, {7, 3}}));
  EXPECT_EQ(local_shapes(blocks), (std::vector<Extents>{{16, 2}, {16, 1}, {15, 2}, {15, 1}}));
}

TEST(DTensorSpec, knows_positions_in_the_mesh_not_ranks_of_the_communicator) {
  const auto layout = MeshLayout::from_ranks({0, 3}, {2});

  const DTensorSpec spec(layout, {Shard(0)}, {32, 3});

  EXPECT_EQ(local_shapes(spec), (std::vector<Extents>{{16, 3}, {16, 3}}));
  EXPECT_EQ(spec.owner({31, 0}), 1);
}

// The rows are split into four chunks, and each chunk into two.
TEST(DTensorSpec, rows_of_18_split_twice) {
  const DTensorSpec spec(MeshLayout({4, 2}), {Shard(0), Shard(0)}, {18, 2});

  const std::vector<Extents> expected{{3, 2}, {2, 2}, {3, 2}, {2, 2},
                                      {3, 2}, {2, 2}, {2, 2}, {1, 2}};
  EXPECT_EQ(local_shapes(spec), expected);
  EXPECT_EQ(spec.global_offset(6), (Extents{15, 0}));
  EXPECT_EQ(spec.global_offset(7), (Extents{17, 0}));
}

TEST(DTensorSpec, negative_shard_dim_is_stored_as_counted_from_the_first) {
  const DTensorSpec last(line(4), {Shard(-1)}, {4, 8, 12});

  EXPECT_EQ(last.placements(), Placements{Shard(2)});
  EXPECT_EQ(last, DTensorSpec(line(4), {Shard(2)}, {4, 8, 12}));
  EXPECT_EQ(last.hash(), DTensorSpec(line(4), {Shard(2)}, {4, 8, 12}).hash());
}

TEST(DTensorSpec, empty_pieces_lie_at_the_global_extent) {
  const DTensorSpec spec(line(4), {Shard(0)}, {2, 8});
  const DTensorSpec nested(MeshLayout({2, 4}), {Shard(0), Shard(0)}, {9, 2});

  EXPECT_EQ(local_shapes(spec), (std::vector<Extents>{{1, 8}, {1, 8}, {0, 8}, {0, 8}}));
  EXPECT_EQ(spec.global_offset(2), (Extents{2, 0}));
  EXPECT_EQ(nested.local_shape(3), (Extents{0, 2}));
  EXPECT_EQ(nested.global_offset(3), (Extents{9, 0}));
  EXPECT_EQ(nested.global_offset(4), (Extents{5, 0}));
}

TEST(DTensorSpec, replicate_and_partial_hold_all) {
  const DTensorSpec spec(MeshLayout({2, 3}), {Replicate(), Partial()}, {5, 4});

  EXPECT_EQ(local_shapes(spec), std::vector<Extents>(6, {5, 4}));
  EXPECT_EQ(spec.owner({4, 3}), 0);
}

TEST(DTensorSpec, default_is_the_scalar_on_the_mesh_of_one_rank) {
  const DTensorSpec spec;

  EXPECT_EQ(spec.local_shape(0), Extents{});
  EXPECT_EQ(to_string(spec), "() on () as ");
}

TEST(DTensorSpec, coordinate_and_mesh_rank_name_the_same_piece) {
  const DTensorSpec spec(MeshLayout({2, 3}), {Shard(1), Shard(0)}, {7, 5});
  for (int rank = 0; rank < 6; ++rank) {
    const auto coordinate = spec.layout().coordinate(rank);

    EXPECT_EQ(spec.local_shape(rank), spec.local_shape(coordinate));
    EXPECT_EQ(spec.global_offset(rank), spec.global_offset(coordinate));
    EXPECT_EQ(spec.pieces(coordinate),
              (std::vector<Box>{{spec.global_offset(rank), spec.local_shape(rank)}}));
  }
}

TEST(DTensorSpec, boundaries_are_in_split_order) {
  const Placements reordered({Shard(0), Shard(0)}, {1, 0});
  const DTensorSpec spec(MeshLayout({2, 2}), reordered, {10}, {{0, 1, 3, 6, 10}});

  EXPECT_EQ(local_shapes(spec), (std::vector<Extents>{{1}, {3}, {2}, {4}}));
  EXPECT_EQ(spec.global_offset(1), (Extents{3}));
  EXPECT_EQ(spec.global_offset(2), (Extents{1}));
  EXPECT_EQ(spec.largest_local_shape(), (Extents{4}));
}

TEST(DTensorSpec, boundaries_of_the_chunk_rule_are_stored_as_none) {
  const DTensorSpec plain(line(4), {Shard(0)}, {10, 4});
  const DTensorSpec written(line(4), {Shard(0)}, {10, 4}, {{0, 3, 6, 9, 10}, {0, 4}});
  const DTensorSpec half(line(4), {Shard(0)}, {10, 4}, {{}, {}});
  const DTensorSpec other(line(4), {Shard(0)}, {10, 4}, {{0, 3, 6, 8, 10}, {}});

  EXPECT_EQ(plain, written);
  EXPECT_EQ(plain, half);
  EXPECT_EQ(plain.hash(), written.hash());
  EXPECT_EQ(to_string(plain), to_string(written));
  EXPECT_TRUE(written.boundaries()[0].empty() && written.boundaries()[1].empty());
  EXPECT_FALSE(plain == other);
  EXPECT_NE(plain.hash(), other.hash());
}

TEST(DTensorSpec, nested_boundaries_of_the_chunk_rule_are_stored_as_none) {
  const MeshLayout layout({2, 4});
  const DTensorSpec plain(layout, {Shard(0), Shard(0)}, {9});

  const DTensorSpec written(layout, {Shard(0), Shard(0)}, {9}, {{0, 2, 4, 5, 5, 6, 7, 8, 9}});

  EXPECT_EQ(plain, written);
  EXPECT_EQ(plain.hash(), written.hash());
}

TEST(DTensorSpec, boundaries_that_are_no_cut_are_invalid) {
  const auto error = [](const Boundaries& boundaries) {
    return error_of([&] { DTensorSpec(line(2), {Shard(0)}, {10, 4}, boundaries); });
  };
  const auto text =
      "DTensorSpec: expected boundaries of tensor dim 0 as 3 ascending positions from 0 to 10, "
      "got ";

  EXPECT_EQ(error({{0, 10}, {}}), text + std::string("[0, 10]"));
  EXPECT_EQ(error({{0, 3, 6, 10}, {}}), text + std::string("[0, 3, 6, 10]"));
  EXPECT_EQ(error({{1, 5, 10}, {}}), text + std::string("[1, 5, 10]"));
  EXPECT_EQ(error({{0, 5, 9}, {}}), text + std::string("[0, 5, 9]"));
  EXPECT_EQ(error({{0, 11, 10}, {}}), text + std::string("[0, 11, 10]"));
  EXPECT_EQ(error({{0, -1, 10}, {}}), text + std::string("[0, -1, 10]"));
  EXPECT_EQ(error({{0, 5, 10}}), "DTensorSpec: expected boundaries for 2 tensor dims, got 1 lists");
  EXPECT_THAT(error({{}, {0, 2, 4}}), HasSubstr("of tensor dim 1 as 2 ascending positions"));
  EXPECT_EQ(error({{0, 0, 10}, {}}), "no error");
  EXPECT_EQ(error({{0, 10, 10}, {0, 4}}), "no error");
}

TEST(DTensorSpec, placements_and_shapes_that_do_not_fit_are_invalid) {
  const MeshLayout layout({2, 4}, {"dp", "tp"});
  const auto error = [&](const Placements& placements, const Extents& shape) {
    return error_of([&] { DTensorSpec(layout, placements, shape); });
  };
  constexpr auto large = std::int64_t{1} << 32;
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();

  EXPECT_EQ(error({Shard(0)}, {8}),
            "DTensorSpec: expected 2 placements for mesh (dp=2, tp=4), got 1 (S(0))");
  EXPECT_EQ(error({Shard(0), Shard(0), Replicate()}, {8}),
            "DTensorSpec: expected 2 placements for mesh (dp=2, tp=4), got 3 (S(0), S(0), R)");
  EXPECT_EQ(error({Shard(0), Shard(1)}, {8}),
            "DTensorSpec: expected Shard dims of a 1-d tensor, got S(1)");
  EXPECT_EQ(error({Shard(-2), Replicate()}, {8}),
            "DTensorSpec: expected Shard dims of a 1-d tensor, got S(-2)");
  EXPECT_EQ(error({Replicate(), Replicate()}, {8, -1}),
            "DTensorSpec: expected extents >= 0, got shape (8, -1)");
  EXPECT_EQ(error({Replicate(), Replicate()}, {0, -1}),
            "DTensorSpec: expected extents >= 0, got shape (0, -1)");
  EXPECT_EQ(
      error({Replicate(), Replicate()}, {large, large}),
      "DTensorSpec: expected a shape of fewer than 2^63 elements, got (4294967296, 4294967296)");
  EXPECT_EQ(
      error({Replicate(), Replicate()}, {large, large / 2}),
      "DTensorSpec: expected a shape of fewer than 2^63 elements, got (4294967296, 2147483648)");
  EXPECT_EQ(error({Replicate(), Replicate()}, {large, large / 4}), "no error");
  EXPECT_EQ(error({Replicate(), Replicate()}, {large, large, 0}), "no error");
  EXPECT_EQ(error({Shard(0), Shard(0)}, {largest}), "no error");
}

TEST(DTensorSpec, chunks_of_the_largest_extent_do_not_overflow) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  const DTensorSpec spec(MeshLayout({3, 4}), {Shard(0), Shard(0)}, {largest});
  std::int64_t end = 0;
  for (int rank = 0; rank < 12; ++rank) {
    EXPECT_EQ(spec.global_offset(rank)[0], end);
    EXPECT_GT(spec.local_shape(rank)[0], largest / 12 - 12);
    end = spec.global_offset(rank)[0] + spec.local_shape(rank)[0];
  }
  EXPECT_EQ(end, largest);
}

TEST(DTensorSpec, coordinates_off_the_mesh_are_invalid) {
  const DTensorSpec spec(MeshLayout({2, 2}), {Shard(0), Shard(1)}, {4, 4});

  EXPECT_EQ(error_of([&] {
              spec.local_shape({0, 2});
            }),
            "DTensorSpec: expected a coordinate of mesh (2, 2), got (0, 2)");
  EXPECT_EQ(error_of([&] {
              spec.global_offset({-1, 0});
            }),
            "DTensorSpec: expected a coordinate of mesh (2, 2), got (-1, 0)");
  EXPECT_EQ(error_of([&] { spec.pieces({0}); }),
            "DTensorSpec: expected a coordinate of mesh (2, 2), got (0)");
}

TEST(DTensorSpec, owner_of_an_index_outside_is_invalid) {
  const DTensorSpec spec(line(2), {Shard(0)}, {4, 4});

  EXPECT_EQ(error_of([&] {
              spec.owner({4, 0});
            }),
            "owner: expected an index of shape (4, 4), got (4, 0)");
  EXPECT_THAT(error_of([&] { spec.owner({0, -1}); }), HasSubstr("got (0, -1)"));
  EXPECT_THAT(error_of([&] { spec.owner({0}); }), HasSubstr("got (0)"));
}

TEST(DTensorSpec, equal_specs_hash_equal) {
  const auto make = [](const char* first) {
    return DTensorSpec(MeshLayout({2, 4}, {first, "tp"}), {Shard(0), Partial()}, {9, 3});
  };

  EXPECT_EQ(make("dp"), make("ddp"));
  EXPECT_EQ(make("dp").hash(), make("ddp").hash());
}

TEST(DTensorSpec, editing_what_it_was_made_of_changes_nothing) {
  Placements placements{Shard(0)};
  Extents shape{8, 4};
  Boundaries boundaries{{0, 2, 8}, {}};
  const DTensorSpec spec(line(2), placements, shape, boundaries);
  const auto hash = spec.hash();

  placements = {Replicate()};
  shape[0] = 4;
  boundaries[0][1] = 5;

  EXPECT_EQ(spec, DTensorSpec(line(2), {Shard(0)}, {8, 4}, {{0, 2, 8}, {}}));
  EXPECT_EQ(spec.hash(), hash);
}

TEST(DTensorSpec, differs_by_mesh_placements_shape_and_order) {
  const DTensorSpec spec(MeshLayout({2, 2}), {Shard(0), Shard(0)}, {8, 4});
  const Placements reordered({Shard(0), Shard(0)}, {1, 0});
  const std::vector<DTensorSpec> others{
      {MeshLayout({2, 2}), reordered, {8, 4}},
      {MeshLayout({2, 2}), {Shard(0), Shard(1)}, {8, 4}},
      {MeshLayout({2, 2}), {Shard(0), Shard(0)}, {4, 8}},
      {MeshLayout({1, 4}), {Shard(0), Shard(0)}, {8, 4}},
      {MeshLayout::from_ranks({0, 2, 1, 3}, {2, 2}), {Shard(0), Shard(0)}, {8, 4}}};
  for (const auto& other : others) {
    EXPECT_FALSE(spec == other) << to_string(other);
    EXPECT_NE(spec.hash(), other.hash()) << to_string(other);
  }
}

TEST(DTensorSpec, text_shows_boundaries_where_they_are_not_the_chunk_rule) {
  const MeshLayout layout({2}, {"dp"});

  EXPECT_EQ(to_string(DTensorSpec(layout, {Shard(0)}, {10, 4})), "(10, 4) on (dp=2) as S(0)");
  EXPECT_EQ(to_string(DTensorSpec(layout, {Shard(0)}, {10, 4}, {{0, 2, 10}, {}})),
            "(10, 4) on (dp=2) as S(0), dim 0 cut at [0, 2, 10]");
}

TEST(WithPlacements, boundaries_stay_where_the_split_stays) {
  const MeshLayout layout({2, 2});
  const DTensorSpec spec(layout, {Shard(0), Shard(1)}, {10, 10}, {{0, 1, 10}, {0, 3, 10}});

  const auto same = with_placements(spec, {Shard(0), Shard(1)});
  const auto first = with_placements(spec, {Shard(0), Replicate()});
  const auto swapped = with_placements(spec, {Shard(1), Shard(0)});
  const auto negative = with_placements(spec, {Shard(-2), Partial()});

  EXPECT_EQ(same, spec);
  EXPECT_EQ(first, DTensorSpec(layout, {Shard(0), Replicate()}, {10, 10}, {{0, 1, 10}, {}}));
  EXPECT_EQ(swapped, DTensorSpec(layout, {Shard(1), Shard(0)}, {10, 10}));
  EXPECT_EQ(negative, DTensorSpec(layout, {Shard(0), Partial()}, {10, 10}, {{0, 1, 10}, {}}));
}

TEST(WithPlacements, another_split_order_is_another_split) {
  const MeshLayout layout({2, 2});
  const DTensorSpec spec(layout, {Shard(0), Shard(0)}, {10}, {{0, 1, 2, 3, 10}});
  const Placements reordered({Shard(0), Shard(0)}, {1, 0});

  EXPECT_EQ(with_placements(spec, reordered), DTensorSpec(layout, reordered, {10}));
  EXPECT_EQ(with_placements(spec, {Shard(0), Replicate()}),
            DTensorSpec(layout, {Shard(0), Replicate()}, {10}));
}

TEST(WithPlacements, what_does_not_fit_is_invalid) {
  const DTensorSpec spec(MeshLayout({2}, {"x"}), {Shard(0)}, {10, 4});

  EXPECT_EQ(error_of([&] {
              with_placements(spec, {Shard(0), Shard(1)});
            }),
            "with_placements: expected 1 placement for mesh (x=2), got 2 (S(0), S(1))");
  EXPECT_EQ(error_of([&] { with_placements(spec, {Shard(2)}); }),
            "with_placements: expected Shard dims of a 2-d tensor, got S(2)");
}

using Indices = std::vector<std::int64_t>;

TEST(DTensorSpec, rules_give_the_sizes_they_promise) {
  const auto sizes = [](const Placement& placement, std::int64_t extent, int ranks) {
    const DTensorSpec spec(MeshLayout({ranks}), {placement}, {extent});
    Indices result;
    for (int rank = 0; rank < ranks; ++rank) result.push_back(spec.local_shape(rank)[0]);
    return result;
  };

  EXPECT_EQ(sizes(Balanced(0), 10, 6), (Indices{2, 2, 2, 2, 1, 1}));
  EXPECT_EQ(sizes(Balanced(0), 17, 16), (Indices{2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(sizes(Balanced(0), 3, 5), (Indices{1, 1, 1, 0, 0}));
  EXPECT_EQ(sizes(Cyclic(0, 2), 10, 3), (Indices{4, 4, 2}));
  EXPECT_EQ(sizes(HeadTail(0), 10, 2), (Indices{4, 6}));
}

TEST(DTensorSpec, rules_give_the_indices_they_promise) {
  const auto text = [](const Placement& placement, std::int64_t extent, int ranks) {
    const DTensorSpec spec(MeshLayout({ranks}), {placement}, {extent});
    std::string result;
    for (int rank = 0; rank < ranks; ++rank)
      result += to_string(spec.sections(spec.layout().coordinate(rank)));
    return result;
  };

  EXPECT_EQ(text(Cyclic(0, 2), 10, 3), "[0:2|6:8][2:4|8:10][4:6]");
  EXPECT_EQ(text(HeadTail(0), 8, 2), "[0:2|6:8][2:6]");
  EXPECT_EQ(text(HeadTail(0), 10, 2), "[0:3|9:10][3:9]");
  EXPECT_EQ(text(HeadTail(0), 8, 4), "[0:1|7:8][1:2|6:7][2:3|5:6][3:5]");
  EXPECT_EQ(text(Cyclic(0, 1), 20, 2), "[0:1|2:3|…|18:19][1:2|3:4|…|19:20]");
  EXPECT_EQ(text(Balanced(0), 3, 5), "[0:1][1:2][2:3][3:3][3:3]");
}

TEST(DTensorSpec, pieces_of_two_blocks_are_no_boxes) {
  const DTensorSpec spec(MeshLayout({3}), {Cyclic(0, 2)}, {10});
  const DTensorSpec few(MeshLayout({3}), {Cyclic(0, 4)}, {10});

  EXPECT_EQ(spec.pieces({1}), (std::vector<Box>{{{2}, {2}}, {{8}, {2}}}));
  EXPECT_EQ(few.global_offset(2), (Extents{8}));
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(error_of([&] { spec.global_offset(rank); }),
              "global_offset: expected pieces that are boxes, got (10) on (3) as C(0,2); "
              "global_index() tells which indices a rank holds");
  EXPECT_EQ(error_of([&] { spec.global_index(2, 0, 2); }),
            "global_index: expected a local index below 2, got 2");
  EXPECT_EQ(error_of([&] { spec.local_index(2, 0, 10); }),
            "local_index: expected a global index below 10, got 10");
  EXPECT_EQ(error_of([&] { spec.global_index(2, 1, 0); }),
            "global_index: expected a dim of a 1-d tensor, got 1");
}

TEST(DTensorSpec, only_shard_has_boundaries_of_its_own) {
  const MeshLayout layout({2});

  EXPECT_EQ(DTensorSpec(layout, {Balanced(0)}, {7}, {{0, 4, 7}}),
            DTensorSpec(layout, {Balanced(0)}, {7}));
  EXPECT_EQ(
      error_of([&] {
        DTensorSpec(layout, {Balanced(0)}, {7}, {{0, 3, 7}});
      }),
      "DTensorSpec: expected Shard where tensor dim 0 has boundaries that are not those of the "
      "rule, got B(0) and [0, 3, 7]");
  EXPECT_EQ(
      error_of([&] {
        DTensorSpec(layout, {Cyclic(0, 1)}, {7}, {{0, 4, 7}});
      }),
      "DTensorSpec: expected Shard where tensor dim 0 has boundaries that are not those of the "
      "rule, got C(0,1) and [0, 4, 7]");
}

TEST(WithPlacements, another_rule_drops_the_boundaries) {
  const DTensorSpec spec(MeshLayout({2}), {Shard(0)}, {10}, {{0, 2, 10}});

  EXPECT_EQ(with_placements(spec, {Balanced(0)}), DTensorSpec(spec.layout(), {Balanced(0)}, {10}));
  EXPECT_EQ(with_placements(spec, {Cyclic(0, 2)}),
            DTensorSpec(spec.layout(), {Cyclic(0, 2)}, {10}));
}

}  // namespace
}  // namespace tessera::test
