// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors under all sharding rules, in every call that knows where elements lie.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

const std::vector<Placement> line_rules{Shard(0),     Balanced(0),  HeadTail(0), Cyclic(0, 1),
                                        Cyclic(0, 2), Cyclic(0, 5), Replicate()};
const std::vector<Extents> line_shapes{{10, 3}, {17, 2}, {1, 4}, {0, 3}, {24, 1}};

/// Returns whether there are enough ranks for the mesh, and this one is on it.
bool is_here(const DeviceMesh& mesh) {
  return !mesh.is_null() && is_on(mesh);
}

/// Rules of matrices on a grid of two mesh dims.
const std::vector<Placements> grid_rules{{Cyclic(0, 2), Cyclic(1, 3)}, {Shard(0), Shard(1)},
                                         {Balanced(1), HeadTail(0)},   {Balanced(0), Shard(0)},
                                         {HeadTail(1), Replicate()},   {Replicate(), Cyclic(1, 1)}};

std::vector<double> list_of(const DTensor<Vector>& tensor) {
  std::vector<double> result;
  const auto host = on_host(tensor.to_local());
  for (std::size_t i = 0; i < host.size(); ++i) result.push_back(host(i));
  return result;
}

using Values = std::vector<double>;

TEST(Rules, w1_cyclic_blocks_are_dealt_out_in_turn) {
  const auto mesh = mesh_of({3});
  if (!is_here(mesh)) return;
  const std::vector<Values> expected{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5}};

  const auto x = iota<Vector>(mesh, Cyclic(0, 2), {10});

  EXPECT_EQ(list_of(x), expected[static_cast<std::size_t>(mesh.rank())]);
  for (std::int64_t i = 0; i < x.local_shape()[0]; ++i) {
    const auto global = x.global_index(0, i);
    EXPECT_EQ(static_cast<double>(global), list_of(x)[static_cast<std::size_t>(i)]);
    EXPECT_EQ(x.local_index(-1, global), i);
  }
}

TEST(Rules, w2_a_grid_of_blocks_goes_to_chunks_and_back_in_one_exchange_each) {
  const auto mesh = mesh_of({2, 2});
  if (!is_here(mesh)) return;
  const auto blocks = iota<Matrix>(mesh, {Cyclic(0, 2), Cyclic(1, 3)}, {9, 9});
  Traffic there;
  const auto chunks = redistribute(blocks, {Shard(0), Shard(1)});
  EXPECT_EQ(there.exchanges(), 1);
  Traffic back;
  const auto again = redistribute(chunks, {Cyclic(0, 2), Cyclic(1, 3)});
  EXPECT_EQ(back.exchanges(), 1);

  EXPECT_EQ(wrong_iota(chunks), "");
  EXPECT_EQ(wrong_iota(again), "");
}

TEST(Rules, w4_head_and_tail_chunks_are_stored_one_after_the_other) {
  const auto mesh = mesh_of({2});
  if (!is_here(mesh)) return;
  const std::vector<Values> expected{{0, 1, 2, 9}, {3, 4, 5, 6, 7, 8}};

  const auto x = iota<Vector>(mesh, HeadTail(0), {10});

  EXPECT_EQ(list_of(x), expected[static_cast<std::size_t>(mesh.rank())]);
}

TEST(Rules, w5_sizes_are_taken_by_factories_redistribute_and_distribute_tensor) {
  const auto mesh = mesh_of({3});
  if (!is_here(mesh)) return;
  const std::vector<Values> expected{{0, 1, 2}, {3}, {4, 5, 6, 7}};
  const auto& mine = expected[static_cast<std::size_t>(mesh.rank())];
  const Sizes sizes(0, {3, 1, 4});

  const auto made = iota<Vector>(mesh, sizes, {8});
  const auto moved = redistribute(iota<Vector>(mesh, Shard(0), {8}), {sizes});
  const auto distributed = distribute_tensor(iota_view<Vector>({8}), mesh, sizes);
  const auto zero = zeros<Vector>(mesh, Sizes(-1, {3, 1, 4}), {8});

  for (const auto& x : {made, moved, distributed}) EXPECT_EQ(list_of(x), mine);
  EXPECT_EQ(zero.spec().boundaries(), (Boundaries{{0, 3, 4, 8}}));
  EXPECT_EQ(from_local(made.to_local(), mesh, sizes).spec(), made.spec());
  EXPECT_EQ(from_local(made.to_local(), mesh, sizes, {8}).spec(), made.spec());
}

TEST(Rules, sizes_that_do_not_fit_are_invalid_everywhere) {
  const auto mesh = mesh_of({3});
  if (!is_here(mesh)) return;
  const auto x = iota<Vector>(mesh, Shard(0), {8});
  const auto error_of = [](const auto& call) { return message_of<InvalidArgument>(call); };

  EXPECT_EQ(error_of([&] {
              zeros<Vector>(mesh, Sizes(0, {3, 1, 5}), {8});
            }),
            "zeros: expected sizes from 0 on that add up to the extent 8 in Sizes(0, [3, 1, 5])");
  EXPECT_EQ(error_of([&] {
              redistribute(x, Sizes(0, {3, 1, 3}));
            }),
            "redistribute: expected sizes that add up to the extent 8 in Sizes(0, [3, 1, 3])");
  EXPECT_EQ(
      error_of([&] {
        redistribute(x, Sizes(0, {9, -1, 0}));
      }),
      "redistribute: expected sizes from 0 on that add up to the extent 8 in Sizes(0, [9, -1, "
      "0])");
  EXPECT_EQ(error_of([&] {
              redistribute(x, Sizes(0, {4, 4}));
            }),
            "redistribute: expected one size for each of 3 coordinates, got 2 in Sizes(0, [4, 4])");
  EXPECT_EQ(error_of([&] { redistribute(x, Sizes(0, {})); }),
            "redistribute: expected one size for each of 3 coordinates, got 0 in Sizes(0, [])");
  EXPECT_EQ(error_of([&] {
              redistribute(x, Sizes(1, {4, 4, 0}));
            }),
            "redistribute: expected Shard dims of a 1-d tensor, got S(1)");
  EXPECT_EQ(
      error_of([&] {
        from_local(x.to_local(), mesh, Sizes(0, {3, 1, 4}));
      }),
      "from_local: expected local Views of (8) on (3) as S(0), dim 0 cut at [0, 3, 4, 8], got "
      "(8) on (3) as S(0)");
}

TEST(Rules, sizes_share_their_dim_with_no_other_sharding) {
  const auto mesh = mesh_of({2, 2});
  if (!is_here(mesh)) return;

  EXPECT_EQ(
      message_of<InvalidArgument>([&] {
        zeros<Vector>(mesh, {Sizes(0, {3, 5}), Shard(0)}, {8});
      }),
      "zeros: expected the only sharding of its tensor dim, got one of 2, in Sizes(0, [3, 5])");
  EXPECT_EQ(wrong_iota(iota<Matrix>(mesh, {Sizes(0, {3, 5}), Cyclic(1, 1)}, {8, 5})), "");
}

TEST(Rules, every_pair_on_a_line_gives_the_values_in_at_most_one_exchange) {
  for (int ranks = 1; ranks <= 6; ++ranks) {
    const auto mesh = mesh_of({ranks});
    if (!is_here(mesh)) continue;
    for (const auto& shape : line_shapes)
      for (const auto& from : line_rules)
        for (const auto& to : line_rules) {
          const auto x = iota<Matrix>(mesh, from, shape);
          Traffic traffic;
          const auto y = redistribute(x, to);
          const auto text = to_string(x.spec()) + " -> " + to_string(y.spec());
          EXPECT_LE(traffic.exchanges(), 1) << text;
          EXPECT_EQ(wrong_iota(y), "") << text;
        }
  }
}

TEST(Rules, every_pair_on_a_grid_gives_the_values_for_all_layouts) {
  const auto mesh = mesh_of({2, 2});
  if (!is_here(mesh)) return;
  for (const Extents& shape : {Extents{9, 8}, Extents{5, 1}, Extents{0, 7}})
    for (const auto& from : grid_rules)
      for (const auto& to : grid_rules) {
        const auto x = iota<Matrix>(mesh, from, shape);
        const auto y = redistribute(x, to);
        const auto z = redistribute<LeftMatrix>(x, to);
        EXPECT_EQ(wrong_iota(y), "") << to_string(x.spec()) << " -> " << to_string(y.spec());
        EXPECT_EQ(wrong_iota(z), "") << to_string(x.spec()) << " -> " << to_string(z.spec());
      }
}

TEST(Rules, sums_go_to_every_rule_and_back) {
  for (int ranks = 2; ranks <= 4; ++ranks) {
    const auto mesh = mesh_of({ranks});
    if (!is_here(mesh)) continue;
    for (const auto& rule : line_rules) {
      const auto x = iota<Matrix>(mesh, rule, {11, 3});
      for (const auto op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::max}) {
        const auto partial = redistribute(x, Partial(op));
        EXPECT_EQ(wrong_iota(redistribute(partial, rule)), "") << to_string(rule);
        EXPECT_EQ(wrong_iota(redistribute(partial, Replicate())), "") << to_string(rule);
      }
    }
  }
}

TEST(Rules, a_share_of_a_sum_that_cannot_be_kept_lies_on_one_rank) {
  const auto mesh = mesh_of({2, 2});
  if (!is_here(mesh)) return;
  const auto x = iota<Vector>(mesh, {Cyclic(0, 2), Replicate()}, {9});
  for (const auto op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::min, ReduceOp::product}) {
    const auto y = redistribute(x, {Partial(op), Cyclic(0, 3)});
    EXPECT_EQ(wrong_iota(redistribute(y, {Replicate(), Cyclic(0, 3)})), "") << to_string(op);
  }
}

TEST(Rules, several_tensors_and_calls_in_the_background_know_all_rules) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Cyclic(0, 2), {19, 3});
  const auto y = iota<Matrix>(mesh, HeadTail(0), {13, 2});

  const auto both = redistribute_all(std::vector{x, y}, Balanced(0));
  auto pending = redistribute_async(x, HeadTail(0));

  EXPECT_EQ(wrong_iota(both[0]), "");
  EXPECT_EQ(wrong_iota(both[1]), "");
  EXPECT_EQ(wrong_iota(pending.wait()), "");
  const auto into = zeros<Matrix>(mesh, Cyclic(1, 1), {19, 3});
  redistribute_into(into, x);
  EXPECT_EQ(wrong_iota(into), "");
  const auto full = full_tensor(x);
  EXPECT_EQ(wrong_view(full, {19, 3}, GlobalIndex({19, 3})), "");
}

TEST(Rules, another_mesh_may_have_another_rule) {
  const auto line = mesh_of({world_size()});
  for (const auto& shape : std::vector<std::vector<int>>{{2}, {3}, {2, 2}}) {
    const auto mesh = mesh_of(shape);
    if (mesh.is_null()) continue;
    for (const auto& from : line_rules) {
      const auto x = iota<Matrix>(line, from, {14, 3});
      const auto target =
          shape.size() == 1 ? Placements{Cyclic(0, 3)} : Placements{HeadTail(1), Cyclic(0, 2)};
      const auto y = redistribute(x, mesh, target);
      EXPECT_EQ(wrong_iota(y), "") << to_string(from);
      EXPECT_EQ(wrong_iota(redistribute(y, line, from)), "") << to_string(from);
    }
  }
}

TEST(Rules, a_rank_off_the_mesh_learns_the_rules) {
  if (world_size() < 3) return;
  const auto few = mesh_of({2});
  const auto all = mesh_of({world_size()});
  for (const auto& from : line_rules) {
    const auto x = iota<Matrix>(few, from, {9, 2});
    EXPECT_EQ(wrong_iota(redistribute(x, all, Balanced(0))), "") << to_string(from);
  }
}

TEST(Rules, sizes_that_differ_between_ranks_are_found_on_another_mesh) {
  if (world_size() < 3) return;
  const auto x = iota<Vector>(mesh_of({world_size()}), Shard(0), {8});
  const auto sizes = world_rank() == 0 ? Sizes(0, {3, 5}) : Sizes(0, {5, 3});

  const auto message = message_of<InvalidArgument>([&] { redistribute(x, mesh_of({2}), sizes); });

  EXPECT_NE(message.find("S(0) of sizes [3, 5]"), std::string::npos) << message;
  EXPECT_EQ(wrong_iota(redistribute(x, mesh_of({2}), Sizes(0, {3, 5}))), "");
}

TEST(Rules, ownerships_that_agree_share_memory_without_an_exchange) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Vector>(mesh, Balanced(0), {2 * world_size()});

  Traffic traffic;
  const auto y = redistribute(x, Shard(0));

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(y.to_local().data(), x.to_local().data());
  EXPECT_EQ(y.placements(), Placements{Shard(0)});
  EXPECT_TRUE(agree(x.spec(), y.spec()));
  const auto all = redistribute_all(std::vector{x}, Shard(0));
  EXPECT_EQ(all[0].to_local().data(), x.to_local().data());
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto copied = zeros<Vector>(mesh, Shard(0), {2 * world_size()});
  deep_copy(copied, x);
  EXPECT_EQ(wrong_iota(copied), "");
}

TEST(Rules, w7_random_numbers_are_those_of_one_array) {
  const auto mesh = mesh_of({world_size()});
  const Extents shape{23, 4};
  const auto expected = on_host(full_tensor(rand<Matrix>(mesh, Replicate(), shape, {.seed = 7})));
  for (const auto& rule : line_rules) {
    const auto x = rand<Matrix>(mesh, rule, shape, {.seed = 7});
    const auto y = rand<LeftMatrix>(mesh, rule, shape, {.seed = 7});
    const auto wanted = [&](const Extents& index) {
      return expected(static_cast<std::size_t>(index[0]), static_cast<std::size_t>(index[1]));
    };
    EXPECT_EQ(wrong_piece(x, wanted), "") << to_string(rule);
    EXPECT_EQ(wrong_piece(y, wanted), "") << to_string(rule);
  }
}

TEST(Rules, full_tensors_are_full_of_one_value) {
  const auto mesh = mesh_of({world_size()});
  for (const auto& rule : line_rules) {
    const auto x = full<Matrix>(mesh, rule, {9, 4}, 3.5);
    EXPECT_EQ(wrong_piece(x, [](const Extents&) { return 3.5; }), "") << to_string(rule);
  }
}

TEST(Rules, files_hold_the_full_tensor) {
  const auto mesh = mesh_of({world_size()});
  const auto path =
      (std::filesystem::temp_directory_path() / ("tessera_rules_" + std::to_string(world_size())))
          .string() +
      ".npy";
  for (const Extents& shape : {Extents{17, 3}, Extents{1, 2}})
    for (std::size_t i = 0; i < line_rules.size(); ++i) {
      const auto& rule = line_rules[i];
      const auto& other = line_rules[(i + 1) % line_rules.size()];
      write_npy(path, iota<Matrix>(mesh, rule, shape));
      EXPECT_EQ(wrong_iota(read_npy<LeftMatrix>(path, mesh, other)), "")
          << to_string(rule) << " -> " << to_string(other);
      const auto narrow = read_npy<Kokkos::View<float**, TestSpace>>(path, mesh, rule);
      EXPECT_EQ(wrong_iota(narrow), "") << to_string(rule);
    }
  if (world_rank() == 0) std::filesystem::remove(path);
}

TEST(Rules, grids_of_blocks_are_read_and_written) {
  const auto mesh = mesh_of({2, 2});
  if (!is_here(mesh)) return;
  const auto path = (std::filesystem::temp_directory_path() / "tessera_rules_grid.npy").string();
  for (const auto& rule : grid_rules) {
    write_npy(path, iota<LeftMatrix>(mesh, rule, {9, 11}));
    EXPECT_EQ(wrong_iota(read_npy<Matrix>(path, mesh, rule)), "") << to_string(rule);
  }
  if (mesh.rank() == 0) std::filesystem::remove(path);
}

TEST(Rules, from_local_takes_pieces_that_the_rule_gives) {
  const auto mesh = mesh_of({world_size()});
  for (const auto& shape : line_shapes)
    for (const auto& rule : line_rules) {
      const auto x = iota<Matrix>(mesh, rule, shape);
      EXPECT_EQ(from_local(x.to_local(), mesh, rule).spec(), x.spec()) << to_string(x.spec());
      EXPECT_EQ(from_local(x.to_local(), mesh, rule, shape).spec(), x.spec());
      EXPECT_EQ(from_local(x.to_local(), mesh, rule, {.run_check = true}).spec(), x.spec());
    }
}

TEST(Rules, from_local_refuses_sizes_that_the_rule_does_not_give) {
  const auto mesh = mesh_of({2});
  if (!is_here(mesh)) return;
  const Vector view("view", mesh.rank() == 0 ? 2 : 5);
  const auto error_of = [&](const Placement& rule) {
    return message_of<InvalidArgument>([&] { from_local(view, mesh, rule); });
  };

  EXPECT_EQ(
      error_of(Cyclic(0, 2)),
      "from_local: expected local extents [4, 3] of tensor dim 0, those of C(0,2) for extent 7, "
      "got [2, 5]");
  EXPECT_EQ(
      error_of(HeadTail(0)),
      "from_local: expected local extents [3, 4] of tensor dim 0, those of H(0) for extent 7, "
      "got [2, 5]");
  EXPECT_EQ(
      error_of(Balanced(0)),
      "from_local: expected local extents [4, 3] of tensor dim 0, those of B(0) for extent 7, "
      "got [2, 5]");
  EXPECT_EQ(from_local(view, mesh, Shard(0)).shape(), (Extents{7}));
}

TEST(Rules, local_map_works_on_pieces_of_any_rule) {
  const auto mesh = mesh_of({world_size()});
  for (const auto& rule : line_rules) {
    const auto x = iota<Matrix>(mesh, rule, {12 * world_size(), 3});
    const auto same = [](const Matrix& view) { return view; };
    EXPECT_EQ(wrong_iota(local_map(same, like_input(0))(x)), "") << to_string(rule);
    EXPECT_EQ(wrong_iota(local_map(same, OutPlacement({rule}))(x)), "") << to_string(rule);
    EXPECT_EQ(local_map(same, OutPlacement({rule}))(x).spec(), x.spec()) << to_string(rule);
  }
}

TEST(Rules, local_map_takes_ownerships_that_agree) {
  const auto mesh = mesh_of({2});
  if (!is_here(mesh)) return;
  const auto x = iota<Vector>(mesh, Balanced(0), {8});
  const auto y = iota<Vector>(mesh, Shard(0), {8});
  const auto odd = iota<Vector>(mesh, Balanced(0), {9});
  const auto dealt = iota<Vector>(mesh, Cyclic(0, 2), {8});
  const auto first = [](const Vector& a, const Vector&) { return a; };
  const auto one = [](const Vector& a) { return a; };

  EXPECT_EQ(wrong_iota(local_map(first, like_input(0))(x, y)), "");
  EXPECT_EQ(wrong_iota(local_map(one, like_input(0), {{Shard(0)}})(x)), "");
  EXPECT_EQ(wrong_iota(local_map(one, like_input(0), {{Shard(0)}})(odd)), "");
  EXPECT_EQ(
      message_of<PlacementMismatch>([&] { local_map(first, like_input(0))(x, dealt); }),
      "local_map: expected arguments 0 and 1 cut at the same places in tensor dim 0, got (8) on "
      "(2) as B(0) and (8) on (2) as C(0,2)");
}

TEST(Rules, even_takes_what_equal_pieces_make) {
  const auto mesh = mesh_of({2});
  if (!is_here(mesh)) return;
  const auto x = iota<Vector>(mesh, Replicate(), {2});
  const auto even_of = [&](const Placement& rule, std::size_t extent) {
    const auto make = [=](const Vector&) { return Vector("view", extent); };
    return local_map(make, even({rule}))(x).shape();
  };
  const auto error_of = [&](const Placement& rule, std::size_t extent) {
    return message_of<InvalidArgument>([&] { even_of(rule, extent); });
  };

  EXPECT_EQ(even_of(Balanced(0), 3), (Extents{6}));
  EXPECT_EQ(even_of(HeadTail(0), 4), (Extents{8}));
  EXPECT_EQ(error_of(Cyclic(0, 1), 3),
            "local_map: expected even() of Shard, Balanced or HeadTail, got C(0,1); use shaped()");
  EXPECT_EQ(error_of(HeadTail(0), 3),
            "local_map: expected an even extent of tensor dim 0 for even(H(0)), got 3");
}

TEST(Rules, offsets_of_pieces_that_are_no_boxes_are_refused_on_all_ranks) {
  const auto mesh = mesh_of({2});
  if (!is_here(mesh)) return;
  const auto x = iota<Vector>(mesh, HeadTail(0), {8});  // on rank 1 the piece is a box

  EXPECT_EQ(message_of<InvalidArgument>([&] { x.global_offset(); }),
            "global_offset: expected pieces that are boxes, got (8) on (2) as H(0); global_index() "
            "tells which indices a rank holds");
  EXPECT_EQ(to_string(x), "float64 (8) on (2) as H(0), here (4) at " +
                              std::string(mesh.rank() == 0 ? "[0:2|6:8]" : "[2:6]"));
  EXPECT_EQ(message_of<InvalidArgument>([&] { x.global_index(0, 4); }),
            "global_index: expected a local index below 4, got 4");
  EXPECT_EQ(message_of<InvalidArgument>([&] { x.global_index(1, 0); }),
            "global_index: expected a dim of a 1-d tensor, got 1");
}

TEST(Rules, collectives_and_gathers_take_their_values) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Vector>(mesh, Cyclic(0, 2), {4 * world_size()});

  const auto gathered = gather_to(x, 0);

  if (mesh.rank() == 0) {
    EXPECT_EQ(wrong_view(gathered, {4 * world_size()}, GlobalIndex({4 * world_size()})), "");
  }
}

}  // namespace
