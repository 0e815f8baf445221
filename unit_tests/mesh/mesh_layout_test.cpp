// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/mesh/mesh_layout.hpp>

#include "../support/errors.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

using Ints = std::vector<int>;

TEST(MeshLayout, numbers_ranks_row_major) {
  const MeshLayout layout({2, 3, 4});

  EXPECT_EQ(layout.ndim(), 3);
  EXPECT_EQ(layout.size(), 24);
  EXPECT_EQ(layout.size(1), 3);
  EXPECT_EQ(layout.coordinate(0), (Ints{0, 0, 0}));
  EXPECT_EQ(layout.coordinate(17), (Ints{1, 1, 1}));
  EXPECT_EQ(layout.mesh_rank(Ints{1, 1, 1}), 17);
  EXPECT_EQ(layout.ranks()[17], 17);
}

TEST(MeshLayout, coordinate_and_mesh_rank_are_inverse) {
  for (const Ints& shape : {Ints{}, {1}, {5}, {2, 3}, {1, 4, 1}, {3, 2, 2}}) {
    const MeshLayout layout(shape);
    for (int rank = 0; rank < layout.size(); ++rank)
      EXPECT_EQ(layout.mesh_rank(layout.coordinate(rank)), rank) << to_string(layout);
  }
}

TEST(MeshLayout, default_is_the_mesh_of_rank_0_without_dims) {
  const MeshLayout layout;

  EXPECT_EQ(layout.ndim(), 0);
  EXPECT_EQ(layout.ranks(), Ints{0});
  EXPECT_EQ(to_string(layout), "()");
}

TEST(MeshLayout, any_ranks_keep_their_positions) {
  const auto layout = MeshLayout::from_ranks({7, 3, 5, 0}, {2, 2}, {"a", "b"});

  EXPECT_EQ(layout.position_of(7), 0);
  EXPECT_EQ(layout.position_of(5), 2);
  EXPECT_EQ(layout.position_of(0), 3);
  EXPECT_EQ(layout.position_of(1), -1);
}

TEST(MeshLayout, dims_are_found_by_index_from_either_end_and_by_name) {
  const MeshLayout layout({2, 3, 4}, {"dp", "pp", "tp"});

  EXPECT_EQ(layout.index(0), 0);
  EXPECT_EQ(layout.index(-1), 2);
  EXPECT_EQ(layout.index("pp"), 1);
  EXPECT_EQ(layout.index(std::string("tp")), 2);
  EXPECT_EQ(layout.indices({"tp", 0}), (Ints{2, 0}));
  EXPECT_EQ(layout.indices("dp"), Ints{0});
  EXPECT_EQ(layout.indices({"tp"}), Ints{2});
  EXPECT_EQ(layout.indices(std::vector<std::string>{"pp", "dp"}), (Ints{1, 0}));
  EXPECT_EQ(layout.indices(Ints{2, 1}), (Ints{2, 1}));
  EXPECT_EQ(layout.size("tp"), 4);
}

TEST(MeshLayout, unknown_or_repeated_dims_are_invalid) {
  const MeshLayout layout({2, 3}, {"dp", "tp"});
  const auto error = [](const auto& call) { return message_of<InvalidArgument>(call); };

  EXPECT_EQ(error([&] { layout.index("pp"); }),
            "mesh: expected a dim of mesh (dp=2, tp=3), got \"pp\"");
  EXPECT_EQ(error([&] { layout.index(2); }), "mesh: expected a dim of mesh (dp=2, tp=3), got 2");
  EXPECT_EQ(error([&] { layout.index(-3); }), "mesh: expected a dim of mesh (dp=2, tp=3), got -3");
  EXPECT_EQ(error([&] {
              layout.indices({"dp", 0});
            }),
            "mesh: expected each dim of mesh (dp=2, tp=3) at most once, got (0, 0)");
  EXPECT_EQ(error([&] { layout.indices(Ints{}); }),
            "mesh: expected at least one mesh dim, got none");
}

TEST(MeshLayout, shapes_ranks_and_names_that_do_not_fit_are_invalid) {
  const auto error = [](const auto& call) { return message_of<InvalidArgument>(call); };

  EXPECT_EQ(error([] { MeshLayout({2, 0}, {}); }), "mesh: expected sizes >= 1, got shape (2, 0)");
  EXPECT_EQ(error([] { MeshLayout({-2}, {"x"}); }), "mesh: expected sizes >= 1, got shape (-2)");
  EXPECT_EQ(error([] {
              MeshLayout({1 << 16, 1 << 16}, {"a", "b"});
            }),
            "mesh: expected at most 2^31 - 1 ranks, got shape (65536, 65536)");
  EXPECT_EQ(error([] {
              MeshLayout({2, 2}, {"a"});
            }),
            "mesh: expected 2 dim names for shape (2, 2), got 1");
  EXPECT_EQ(error([] {
              MeshLayout({2, 2}, {"a", "a"});
            }),
            "mesh: expected different dim names, got (a, a)");
  EXPECT_EQ(error([] {
              MeshLayout::from_ranks({0, 1, 2}, {2, 2});
            }),
            "mesh: expected 4 ranks for shape (2, 2), got 3");
  EXPECT_EQ(error([] {
              MeshLayout::from_ranks({0, 1, 1, 2}, {2, 2});
            }),
            "mesh: expected each rank once, got one twice");
  EXPECT_EQ(error([] { MeshLayout::from_ranks({0, -1}, {2}); }), "mesh: expected ranks >= 0");
}

TEST(MeshLayout, sub_is_the_part_through_a_coordinate) {
  const MeshLayout layout({2, 3, 4}, {"dp", "pp", "tp"});
  const Ints coordinate{1, 2, 3};

  const auto tp = layout.sub({2}, coordinate);
  const auto tp_dp = layout.sub({2, 0}, coordinate);

  EXPECT_EQ(tp.ranks(), (Ints{20, 21, 22, 23}));
  EXPECT_EQ(to_string(tp), "(tp=4)");
  EXPECT_EQ(to_string(tp_dp), "(tp=4, dp=2)");
  EXPECT_EQ(tp_dp.ranks(), (Ints{8, 20, 9, 21, 10, 22, 11, 23}));
}

TEST(MeshLayout, sub_of_any_ranks_keeps_them) {
  const auto layout = MeshLayout::from_ranks({7, 3, 5, 0}, {2, 2});

  EXPECT_EQ(layout.sub({0}, Ints{1, 1}).ranks(), (Ints{3, 0}));
  EXPECT_EQ(layout.sub({1}, Ints{1, 1}).ranks(), (Ints{5, 0}));
  EXPECT_EQ(layout.sub({1, 0}, Ints{0, 0}).ranks(), (Ints{7, 5, 3, 0}));
}

TEST(MeshLayout, flattened_has_the_same_ranks_in_one_dim) {
  const auto layout = MeshLayout::from_ranks({7, 3, 5, 0}, {2, 2});

  const auto flat = layout.flattened("all");

  EXPECT_EQ(flat.ranks(), layout.ranks());
  EXPECT_EQ(to_string(flat), "(all=4)");
}

TEST(MeshLayout, equality_and_hash_look_at_ranks_and_shape_but_not_at_names) {
  const MeshLayout named({2, 2}, {"dp", "tp"});
  const MeshLayout plain({2, 2});
  const auto listed = MeshLayout::from_ranks({0, 1, 2, 3}, {2, 2});

  EXPECT_EQ(named, plain);
  EXPECT_EQ(plain, listed);
  EXPECT_EQ(named.hash(), listed.hash());
  EXPECT_FALSE(plain == MeshLayout(Ints{4}));
  EXPECT_FALSE(plain == MeshLayout::from_ranks({1, 0, 2, 3}, {2, 2}));
  EXPECT_NE(plain.hash(), MeshLayout(Ints{4}).hash());
}

TEST(MeshLayout, reshaped_has_the_same_ranks_in_another_grid) {
  const auto layout = MeshLayout::from_ranks({7, 3, 5, 0}, {4}, {"x"});

  EXPECT_EQ(layout.reshaped({2, 2}), MeshLayout::from_ranks({7, 3, 5, 0}, {2, 2}));
  EXPECT_THROW(layout.reshaped({3}), InvalidArgument);
}

TEST(MeshLayout, ranks_per_node_are_the_largest_blocks_on_one_node) {
  const Ints nodes{0, 0, 1, 1, 2, 2, 3, 3};
  const auto blocks = [&](const Ints& shape) { return ranks_per_node(MeshLayout(shape), nodes); };

  EXPECT_EQ(blocks({8}), Ints{2});
  EXPECT_EQ(blocks({2, 4}), (Ints{1, 2}));
  EXPECT_EQ(blocks({4, 2}), (Ints{1, 2}));
  EXPECT_EQ(ranks_per_node(MeshLayout({4}), Ints{0, 0, 0, 0}), Ints{4});
  EXPECT_EQ(ranks_per_node(MeshLayout({4}), Ints{0, 0, 0, 1}), Ints{1});
  EXPECT_EQ(ranks_per_node(MeshLayout({6}), Ints{0, 0, 0, 1, 1, 1}), Ints{3});
  EXPECT_EQ(ranks_per_node(MeshLayout({2, 4}), Ints{0, 0, 1, 1, 0, 0, 1, 1}), (Ints{2, 2}));
  EXPECT_EQ(ranks_per_node(MeshLayout::from_ranks({0, 2, 1, 3}, {2, 2}), Ints{0, 1, 0, 1}),
            (Ints{1, 2}));
}

TEST(MeshLayout, text_names_the_dims) {
  EXPECT_EQ(to_string(MeshLayout({2, 4}, {"dp", "tp"})), "(dp=2, tp=4)");
  EXPECT_EQ(to_string(MeshLayout({2, 4})), "(2, 4)");
}

}  // namespace
}  // namespace tessera::test
