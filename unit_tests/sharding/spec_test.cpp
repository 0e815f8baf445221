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
#include "random_spec.hpp"

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

/// The range of each tensor dim that a coordinate holds, found by cutting lists of indices.
Box piece_by_cutting(const DTensorSpec& spec, const std::vector<int>& coordinate) {
  Box result;
  for (int d = 0; d < spec.tensor_dims(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    std::vector<std::int64_t> indices(static_cast<std::size_t>(spec.shape()[i]));
    for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = static_cast<std::int64_t>(k);
    std::size_t part = 0;
    for (const int mesh_dim : spec.placements().split_order(d)) {
      const auto m = static_cast<std::size_t>(mesh_dim);
      const auto parts = static_cast<std::size_t>(spec.layout().shape()[m]);
      const auto step = (indices.size() + parts - 1) / parts;
      const auto at = static_cast<std::size_t>(coordinate[m]);
      const auto begin = std::min(at * step, indices.size());
      const auto end = std::min(begin + step, indices.size());
      indices = {indices.begin() + static_cast<std::ptrdiff_t>(begin),
                 indices.begin() + static_cast<std::ptrdiff_t>(end)};
      part = part * parts + at;
    }
    const auto& cuts = spec.boundaries()[i];
    const auto begin = !cuts.empty() ? cuts[part] : indices.empty() ? 0 : indices.front();
    const auto size =
        !cuts.empty() ? cuts[part + 1] - begin : static_cast<std::int64_t>(indices.size());
    result.offset.push_back(size == 0 ? spec.shape()[i] : begin);
    result.shape.push_back(size);
  }
  return result;
}

TEST(DTensorSpec, pieces_are_those_found_by_cutting_lists) {
  Generator generator(3);
  for (int i = 0; i < 2000; ++i) {
    const auto spec = random_spec(generator);
    const auto largest = spec.largest_local_shape();
    for (int rank = 0; rank < spec.layout().size(); ++rank) {
      const auto coordinate = spec.layout().coordinate(rank);
      const auto piece = spec.piece(coordinate);

      EXPECT_EQ(piece, piece_by_cutting(spec, coordinate)) << to_string(spec) << " rank " << rank;
      for (std::size_t d = 0; d < largest.size(); ++d) EXPECT_LE(piece.shape[d], largest[d]);
    }
  }
}

bool holds(const Box& box, const Extents& index) {
  for (std::size_t d = 0; d < index.size(); ++d)
    if (index[d] < box.offset[d] || index[d] >= box.offset[d] + box.shape[d]) return false;
  return true;
}

TEST(DTensorSpec, pieces_partition_the_tensor_and_owner_is_the_lowest_holder) {
  Generator generator(4);
  for (int i = 0; i < 300; ++i) {
    const auto spec = random_spec(generator);
    int copies = 1;
    for (int d = 0; d < spec.layout().ndim(); ++d)
      if (!spec.placements()[static_cast<std::size_t>(d)].is_shard())
        copies *= spec.layout().size(d);
    for (std::int64_t k = 0; k < product(spec.shape()); k += 1 + below(generator, 7)) {
      Extents index;
      auto rest = k;
      for (const auto stride : row_major_strides(spec.shape())) {
        index.push_back(rest / stride);
        rest %= stride;
      }
      std::vector<int> holders;
      for (int rank = 0; rank < spec.layout().size(); ++rank)
        if (holds(spec.piece(spec.layout().coordinate(rank)), index)) holders.push_back(rank);

      ASSERT_EQ(static_cast<int>(holders.size()), copies) << to_string(spec);
      EXPECT_EQ(spec.owner(index), holders.front()) << to_string(spec);
    }
  }
}

TEST(DTensorSpec, written_out_boundaries_mean_the_same) {
  Generator generator(5);
  for (int i = 0; i < 2000; ++i) {
    const auto spec = random_spec(generator);
    Boundaries written;
    for (int d = 0; d < spec.tensor_dims(); ++d)
      written.push_back(spec.split(static_cast<std::size_t>(d)).explicit_boundaries());

    const DTensorSpec again(spec.layout(), spec.placements(), spec.shape(), written);

    EXPECT_EQ(again, spec) << to_string(spec);
    EXPECT_EQ(again.hash(), spec.hash()) << to_string(spec);
    EXPECT_EQ(with_placements(spec, spec.placements()), spec) << to_string(spec);
  }
}

}  // namespace
}  // namespace tessera::test
