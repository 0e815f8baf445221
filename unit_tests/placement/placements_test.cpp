// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Placement, Placements, their text, and by_dim.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/mesh/by_dim.hpp>
#include <tessera/placement/placements.hpp>
#include <tessera/sharding/spec.hpp>

#include "../support/errors.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

using Ints = std::vector<int>;

constexpr int ops = static_cast<int>(ReduceOp::bxor) + 1;

TEST(Placement, is_one_of_three) {
  const Placement shard = Shard(2);
  const Placement replicate = Replicate();
  const Placement partial = Partial(ReduceOp::max);

  EXPECT_TRUE(shard.is_shard() && shard.is_shard(2) && !shard.is_shard(1));
  EXPECT_FALSE(shard.is_replicate() || shard.is_partial());
  EXPECT_TRUE(replicate.is_replicate());
  EXPECT_FALSE(replicate.is_shard() || replicate.is_shard(-1) || replicate.is_partial());
  EXPECT_TRUE(partial.is_partial() && partial.is_partial(ReduceOp::max));
  EXPECT_FALSE(partial.is_partial(ReduceOp::sum) || partial.is_shard() || partial.is_replicate());
  EXPECT_EQ(shard.dim(), 2);
  EXPECT_EQ(partial.op(), ReduceOp::max);
  EXPECT_TRUE(Placement().is_replicate());
}

TEST(Placement, equals_its_like_alone) {
  EXPECT_EQ(Placement(Shard(1)), Placement(Shard(1)));
  EXPECT_FALSE(Placement(Shard(1)) == Placement(Shard(0)));
  EXPECT_FALSE(Placement(Shard(-1)) == Placement(Replicate()));
  EXPECT_FALSE(Placement(Partial()) == Placement(Replicate()));
  EXPECT_FALSE(Placement(Partial()) == Placement(Partial(ReduceOp::avg)));
}

TEST(Placement, has_a_short_text) {
  EXPECT_EQ(to_string(Placement(Shard(3))), "S(3)");
  EXPECT_EQ(to_string(Placement(Replicate())), "R");
  EXPECT_EQ(to_string(Placement(Partial())), "P(sum)");
  EXPECT_EQ(to_string(Placement(Partial(ReduceOp::bxor))), "P(bxor)");
}

TEST(Placements, by_default_split_by_mesh_dim) {
  const Placements placements{Shard(0), Replicate(), Shard(1), Shard(0)};

  EXPECT_EQ(placements.split_order(0), (Ints{0, 3}));
  EXPECT_EQ(placements.split_order(1), Ints{2});
  EXPECT_EQ(placements.split_order(2), Ints{});
  EXPECT_EQ(placements.split_position(0), 0);
  EXPECT_EQ(placements.split_position(1), 0);
  EXPECT_EQ(placements.split_position(3), 1);
}

TEST(Placements, split_positions_set_the_order) {
  const Placements placements({Shard(0), Shard(1), Shard(0), Shard(0)}, {2, 0, 0, 1});

  EXPECT_EQ(placements.split_order(0), (Ints{2, 3, 0}));
  EXPECT_EQ(placements.split_order(1), Ints{1});
  EXPECT_EQ(placements.split_position(0), 2);
}

TEST(Placements, default_order_written_out_is_the_default) {
  const Placements plain{Shard(0), Partial(), Shard(0)};
  const Placements written({Shard(0), Partial(), Shard(0)}, {0, 0, 1});
  const Placements reordered({Shard(0), Partial(), Shard(0)}, {1, 0, 0});

  EXPECT_EQ(plain, written);
  EXPECT_EQ(plain.hash(), written.hash());
  EXPECT_EQ(to_string(written), "S(0), P(sum), S(0)");
  EXPECT_FALSE(plain == reordered);
  EXPECT_NE(plain.hash(), reordered.hash());
}

TEST(Placements, different_ones_hash_differently) {
  const std::vector<Placements> all{{},
                                    {Replicate()},
                                    {Shard(0)},
                                    {Shard(1)},
                                    {Partial()},
                                    {Partial(ReduceOp::avg)},
                                    {Shard(-1)},
                                    {Replicate(), Replicate()},
                                    {Shard(0), Replicate()},
                                    {Replicate(), Shard(0)}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(all[i] == all[j]) << to_string(all[i]) << " and " << to_string(all[j]);
      EXPECT_NE(all[i].hash(), all[j].hash()) << to_string(all[i]) << " and " << to_string(all[j]);
    }
}

TEST(Placements, two_kinds_of_partial_are_invalid_but_sum_with_avg) {
  for (int a = 0; a < ops; ++a)
    for (int b = 0; b < ops; ++b) {
      const auto first = static_cast<ReduceOp>(a);
      const auto second = static_cast<ReduceOp>(b);
      const bool is_right = a == b || (a <= 1 && b <= 1);

      const auto message = message_of<InvalidArgument>([&] {
        Placements{Partial(first), Shard(0), Partial(second)};
      });

      EXPECT_EQ(message == "no error", is_right) << message;
      if (is_right) continue;
      EXPECT_THAT(message, HasSubstr("got P(" + to_string(first) + ") and P(" + to_string(second)));
    }
}

TEST(Placements, split_positions_have_to_be_a_permutation) {
  const auto error = [](std::vector<Placement> placements, Ints positions) {
    return message_of<InvalidArgument>([&] { Placements(placements, positions); });
  };
  const auto text = HasSubstr("Placements: expected, for the mesh dims of each tensor dim");

  EXPECT_THAT(error({Shard(0), Shard(0)}, {0, 0}), text);
  EXPECT_THAT(error({Shard(0), Shard(0)}, {1, 1}), text);
  EXPECT_THAT(error({Shard(0), Shard(0)}, {0, 2}), text);
  EXPECT_THAT(error({Shard(0), Shard(0)}, {-1, 0}), text);
  EXPECT_THAT(error({Shard(0), Shard(1)}, {0, 1}), text);
  EXPECT_THAT(error({Shard(0), Replicate()}, {0, 1}), text);
  EXPECT_THAT(error({Shard(0), Shard(0)}, {0}), text);
  EXPECT_THAT(error({Shard(0), Shard(0)}, {0, 1, 2}), text);
}

TEST(Placements, resolved_counts_negative_dims_from_the_last) {
  const Placements placements{Shard(-1), Replicate(), Shard(-2)};

  const auto resolved = detail::resolved(placements, 3);

  EXPECT_EQ(resolved, (Placements{Shard(2), Replicate(), Shard(1)}));
}

TEST(Placements, resolved_joins_a_dim_named_from_both_ends) {
  const auto resolved = detail::resolved(Placements{Shard(0), Shard(-2)}, 2);

  EXPECT_EQ(resolved, (Placements{Shard(0), Shard(0)}));
  EXPECT_EQ(resolved.split_order(0), (Ints{0, 1}));
}

TEST(Placements, resolved_keeps_the_split_order) {
  const Placements placements({Shard(-1), Shard(-1)}, {1, 0});

  const auto resolved = detail::resolved(placements, 2);

  EXPECT_EQ(resolved, Placements({Shard(1), Shard(1)}, {1, 0}));
}

TEST(Placements, dims_out_of_range_are_invalid) {
  const auto error = [](const Placements& placements, int tensor_dims) {
    return message_of<InvalidArgument>([&] { detail::resolved(placements, tensor_dims); });
  };

  EXPECT_EQ(error({Shard(2)}, 2), "expected Shard dims of a 2-d tensor, got S(2)");
  EXPECT_EQ(error({Shard(-3)}, 2), "expected Shard dims of a 2-d tensor, got S(-3)");
  EXPECT_EQ(error({Shard(0)}, 0), "expected Shard dims of a 0-d tensor, got S(0)");
  EXPECT_EQ(error({Replicate(), Partial()}, 0), "no error");
}

TEST(Placements, questions_about_all_of_them) {
  EXPECT_TRUE((Placements{Replicate(), Replicate()}.is_all_replicate()));
  EXPECT_FALSE((Placements{Replicate(), Shard(0)}.is_all_replicate()));
  EXPECT_TRUE((Placements{Shard(0), Partial()}.has_partial()));
  EXPECT_FALSE((Placements{Shard(0), Replicate()}.has_partial()));
}

TEST(PlacementsText, is_one_entry_per_mesh_dim) {
  EXPECT_EQ(to_string(Placements{}), "");
  EXPECT_EQ(to_string(Placements{Shard(0), Replicate(), Partial(ReduceOp::min)}),
            "S(0), R, P(min)");
}

TEST(PlacementsText, shows_the_split_order_where_it_is_not_by_mesh_dim) {
  EXPECT_EQ(to_string(Placements({Shard(0), Shard(0)}, {1, 0})), "S(0)[1], S(0)[0]");
  EXPECT_EQ(to_string(Placements({Shard(1), Shard(0), Shard(0)}, {0, 1, 0})),
            "S(1), S(0)[1], S(0)[0]");
}

TEST(PlacementsText, is_read_with_any_spaces) {
  const Placements expected({Shard(0), Replicate(), Shard(0), Partial()}, {1, 0, 0, 0});

  EXPECT_EQ(parse_placements("S(0)[1],R,S(0)[0],P(sum)"), expected);
  EXPECT_EQ(parse_placements("  S ( 0 ) [ 1 ] , R ,S(0)[0] , P ( sum ) "), expected);
  EXPECT_EQ(parse_placements("S(0)[1], R, S(0)[0], P"), expected);
  EXPECT_EQ(parse_placements(""), Placements());
  EXPECT_EQ(parse_placements("  "), Placements());
  EXPECT_EQ(parse_placements("S(-1)"), Placements{Shard(-1)});
}

TEST(PlacementsText, unknown_text_is_invalid) {
  for (const auto* text :
       {"X",       "S",      "S()",     "S(",      "S(0",      "S(a)",   "S(0),",
        ",S(0)",   "S(0) R", "R R",     "RR",      "R,,R",     "P(",     "P()",
        "P(mean)", "P(sum",  "P(sums)", "r",       "s(0)",     "p",      "R[0]",
        "P[0]",    "S(0)[",  "S(0)[]",  "S(0)[a]", "S(0)[-1]", "S(1.5)", "S(99999999999)",
        "S(0)x",   "S(0);R", "(S(0))"}) {
    const auto message = message_of<InvalidArgument>([&] { parse_placements(text); });

    EXPECT_THAT(message, HasSubstr("parse_placements: expected a list of R, S(dim)"));
    EXPECT_THAT(message, HasSubstr('"' + std::string(text) + '"'));
  }
}

TEST(PlacementsText, positions_that_are_no_permutation_are_invalid) {
  for (const auto* text : {"S(0)[1]", "S(0)[0], S(0)[0]", "S(0)[1], S(1)[0]", "S(0)[2], S(0)[0]"})
    EXPECT_THAT(message_of<InvalidArgument>([&] { parse_placements(text); }),
                HasSubstr("split positions"))
        << text;
}

Placements random_placements(std::mt19937& generator) {
  const auto below = [&](int n) {
    return static_cast<int>(generator() % static_cast<unsigned>(n));
  };
  const auto op = static_cast<ReduceOp>(below(ops));
  std::vector<Placement> placements(static_cast<std::size_t>(below(6)));
  for (auto& placement : placements) {
    const int kind = below(5);
    if (kind == 0) placement = Replicate();
    if (kind == 1) placement = Partial(op);
    if (kind > 1) placement = Shard(below(3) - 1);
  }
  Ints positions(placements.size(), 0);
  for (int dim = -1; dim < 2; ++dim) {
    std::vector<std::size_t> mesh_dims;
    for (std::size_t d = 0; d < placements.size(); ++d)
      if (placements[d].is_shard(dim)) mesh_dims.push_back(d);
    std::shuffle(mesh_dims.begin(), mesh_dims.end(), generator);
    for (std::size_t k = 0; k < mesh_dims.size(); ++k)
      positions[mesh_dims[k]] = static_cast<int>(k);
  }
  return Placements(std::move(placements), std::move(positions));
}

TEST(PlacementsText, reads_what_it_writes) {
  std::mt19937 generator(1);
  for (int i = 0; i < 2000; ++i) {
    const auto placements = random_placements(generator);

    const auto again = parse_placements(to_string(placements));

    EXPECT_EQ(again, placements) << to_string(placements);
    EXPECT_EQ(again.hash(), placements.hash()) << to_string(placements);
  }
}

TEST(ByDim, lists_mesh_dims_first_split_first) {
  const MeshLayout layout({2, 4}, {"dp", "tp"});

  const auto by_mesh_dim = by_dim(layout, {{"dp", "tp"}, {}});
  const auto reordered = by_dim(layout, {{"tp", "dp"}, {}});
  const auto crossed = by_dim(layout, {{1}, {0}});

  EXPECT_EQ(by_mesh_dim, (Placements{Shard(0), Shard(0)}));
  EXPECT_EQ(reordered, Placements({Shard(0), Shard(0)}, {1, 0}));
  EXPECT_FALSE(by_mesh_dim == reordered);
  EXPECT_EQ(reordered.split_order(0), (Ints{1, 0}));
  EXPECT_EQ(crossed, (Placements{Shard(1), Shard(0)}));
}

TEST(ByDim, other_mesh_dims_replicate_unless_they_are_partial) {
  const MeshLayout layout({2, 4, 3}, {"dp", "tp", "pp"});

  EXPECT_EQ(by_dim(layout, {{}, {"tp"}}), (Placements{Replicate(), Shard(1), Replicate()}));
  EXPECT_EQ(by_dim(layout, {{"dp"}}, {{"pp", Partial(ReduceOp::max)}}),
            (Placements{Shard(0), Replicate(), Partial(ReduceOp::max)}));
  EXPECT_EQ(by_dim(layout, {}), (Placements{Replicate(), Replicate(), Replicate()}));
  EXPECT_EQ(by_dim(layout, {{-1}}), (Placements{Replicate(), Replicate(), Shard(0)}));
}

TEST(ByDim, unknown_and_repeated_mesh_dims_are_invalid) {
  const MeshLayout layout({2, 4}, {"dp", "tp"});
  const auto error = [](const auto& call) { return message_of<InvalidArgument>(call); };
  const auto twice = "by_dim: expected each dim of mesh (dp=2, tp=4) at most once, got dim ";

  EXPECT_EQ(error([&] { by_dim(layout, {{"pp"}}); }),
            "mesh: expected a dim of mesh (dp=2, tp=4), got \"pp\"");
  EXPECT_EQ(error([&] { by_dim(layout, {{"dp"}, {"dp"}}); }), twice + std::string("0 twice"));
  EXPECT_EQ(error([&] { by_dim(layout, {{"tp", "tp"}}); }), twice + std::string("1 twice"));
  EXPECT_EQ(error([&] {
              by_dim(layout, {{0}}, {{"dp", Partial()}});
            }),
            twice + std::string("0 twice"));
}

TEST(ByDim, number_of_lists_is_that_of_the_tensor_dims) {
  const MeshLayout layout({2, 4}, {"dp", "tp"});
  const auto one = by_dim(layout, {{"dp", "tp"}});

  EXPECT_EQ(DTensorSpec(layout, one, {8}).placements(), (Placements{Shard(0), Shard(0)}));
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              DTensorSpec(layout, one, {8, 8});
            }),
            "DTensorSpec: expected placements by dim of a 2-d tensor, got 1 lists");
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              with_placements(DTensorSpec(layout, {Shard(0), Shard(1)}, {8, 8}), one);
            }),
            "with_placements: expected placements by dim of a 2-d tensor, got 1 lists");
}

}  // namespace
}  // namespace tessera::test
