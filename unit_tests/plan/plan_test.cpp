// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What plans look like: exchanges, bytes, peers. No ranks run here.
#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <tessera/error/error.hpp>
#include <tessera/mesh/by_dim.hpp>
#include <tessera/plan/plan.hpp>

#include "../support/instrumented.hpp"
#include "../support/plans.hpp"
#include "plan/movement.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

constexpr auto float64 = element_type<double>();

RedistributePlan plan(const std::vector<int>& mesh, const Extents& shape, const char* from,
                      const char* to) {
  const MeshLayout layout(mesh);
  return make_plan(DTensorSpec(layout, parse_placements(from), shape),
                   DTensorSpec(layout, parse_placements(to), shape), float64);
}

std::int64_t most_received(const RedistributePlan& plan) {
  std::int64_t most = 0;
  for (int rank = 0; rank < plan.source().layout().size(); ++rank)
    most = std::max(most, received_elements(plan, rank));
  return most;
}

int exchanges(const std::vector<int>& mesh, const Extents& shape, const char* from,
              const char* to) {
  return plan(mesh, shape, from, to).exchanges();
}

TEST(Plan, gathers_and_transposes_are_one_exchange) {
  EXPECT_EQ(exchanges({4}, {12, 3}, "S(0)", "R"), 1);
  EXPECT_EQ(exchanges({4}, {13, 3}, "S(0)", "R"), 1);
  EXPECT_EQ(exchanges({4}, {5, 5}, "S(0)", "S(1)"), 1);
  EXPECT_EQ(exchanges({2, 2}, {10, 5}, "S(0), S(0)", "R, R"), 1);
}

TEST(Plan, what_every_rank_has_already_needs_no_exchange) {
  EXPECT_EQ(exchanges({4}, {13, 3}, "R", "S(0)"), 0);
  EXPECT_EQ(exchanges({4}, {13, 3}, "R", "P(sum)"), 0);
  EXPECT_EQ(exchanges({4}, {13, 3}, "S(0)", "P(max)"), 0);
  EXPECT_EQ(exchanges({2, 2}, {13, 3}, "S(0), R", "S(0), S(0)"), 0);
  EXPECT_EQ(exchanges({2, 2}, {0, 3}, "S(0), R", "R, S(1)"), 0);
}

TEST(Plan, of_each_transition_has_its_own_hash) {
  const std::vector<const char*> placements{"S(0)", "S(1)", "R", "P(sum)", "P(max)"};
  std::set<std::uint64_t> hashes;
  for (const char* from : placements)
    for (const char* to : placements)
      hashes.insert(detail::PlanAccess::hash(plan({4}, {12, 3}, from, to)));

  EXPECT_EQ(hashes.size(), placements.size() * placements.size());
}

TEST(Plan, changes_on_a_mesh_dim_of_size_one_need_no_exchange) {
  for (const char* from : {"S(0), S(1)", "S(0), R", "S(0), P(sum)", "S(0), S(0)"})
    for (const char* to : {"S(0), S(1)", "S(0), R", "S(0), P(max)", "S(0), S(0)"})
      EXPECT_EQ(exchanges({4, 1}, {16, 8}, from, to), 0) << from << " -> " << to;
}

TEST(Plan, changes_of_the_split_order_are_one_exchange) {
  for (const std::vector<int>& mesh : {std::vector{2, 2}, std::vector{4, 2}})
    for (const Extents& shape : {Extents{8, 4}, Extents{9, 4}})
      EXPECT_EQ(exchanges(mesh, shape, "S(0), S(0)", "S(0)[1], S(0)[0]"), 1);
}

TEST(Plan, direct_exchanges_between_2d_layouts_receive_the_lower_bound) {
  const auto columns_to_rows = plan({2, 2}, {8, 8}, "S(0), S(1)", "S(0), S(0)");

  EXPECT_EQ(columns_to_rows.exchanges(), 1);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(received_elements(columns_to_rows, rank), 8) << "rank " << rank;
  EXPECT_EQ(exchanges({2, 2}, {8, 8}, "S(0), S(1)", "S(1), S(0)"), 1);
  EXPECT_EQ(exchanges({2, 2}, {8, 8}, "S(0), S(0)", "S(1), S(1)"), 1);
}

TEST(Plan, moving_a_mesh_dim_to_another_tensor_dim_receives_448_of_4096_elements) {
  const MeshLayout layout({4, 2}, {"x", "y"});
  const DTensorSpec from(layout, by_dim(layout, {{"y"}, {}, {"x"}}), {16, 16, 16});
  const DTensorSpec to(layout, by_dim(layout, {{}, {"x", "y"}, {}}), {16, 16, 16});

  EXPECT_EQ(most_received(make_plan(from, to, float64)), 448);
}

TEST(Plan, partials_of_several_mesh_dims_are_one_merged_reduction) {
  const auto both = plan({2, 3}, {7, 5}, "P(sum), P(sum)", "R, R");
  const auto mixed = plan({2, 2, 2}, {16}, "P(avg), P(avg), P(sum)", "R, R, R");

  EXPECT_EQ(both.exchanges(), 1);
  EXPECT_EQ(both.steps(0).size(), 1u);
  EXPECT_EQ(mixed.exchanges(), 1);
  EXPECT_EQ(detail::PlanAccess::movement(mixed).divisor, 4);
  EXPECT_EQ(detail::PlanAccess::movement(mixed).op, ReduceOp::sum);
}

TEST(Plan, large_all_reduces_scatter_and_gather_in_one_step) {
  const auto large = plan({4}, {4096, 64}, "P(sum)", "R");

  EXPECT_EQ(large.exchanges(), 1);
  EXPECT_EQ(large.steps(0).front().phases.size(), 2u);
  EXPECT_EQ(received_elements(large, 0), 2 * 3 * 1024 * 64);
}

TEST(Plan, tiny_all_reduces_gather_the_contributions) {
  EXPECT_EQ(plan({4}, {3}, "P(sum)", "R").steps(0).front().phases.size(), 1u);
}

TEST(Plan, from_partial_to_shard_each_rank_receives_the_contributions_of_its_piece) {
  const auto scatter = plan({4}, {12, 3}, "P(sum)", "S(0)");

  EXPECT_EQ(scatter.exchanges(), 1);
  EXPECT_EQ(received_elements(scatter, 2), 3 * 9);
}

TEST(Plan, from_one_partial_to_another_reduces_first) {
  const auto to_avg = plan({4}, {12, 3}, "P(sum)", "P(avg)");

  EXPECT_EQ(to_avg.exchanges(), 1);
  ASSERT_TRUE(to_avg.partial_target().has_value());
  EXPECT_EQ(to_avg.partial_target()->op, ReduceOp::avg);
}

TEST(Plan, between_equal_explicit_boundaries_nothing_travels) {
  const MeshLayout layout(std::vector<int>{3});
  const DTensorSpec uneven(layout, {Shard(0)}, {10, 4}, {{0, 1, 7, 10}, {}});
  const auto kept = with_placements(uneven, {Shard(0)});
  const DTensorSpec chunked(layout, {Shard(0)}, {10, 4});

  EXPECT_EQ(kept, uneven);
  EXPECT_EQ(make_plan(uneven, kept, float64).exchanges(), 0);
  EXPECT_EQ(make_plan(uneven, chunked, float64).exchanges(), 1);
  EXPECT_EQ(with_placements(uneven, {Shard(1)}), DTensorSpec(layout, {Shard(1)}, {10, 4}));
}

TEST(Plan, no_rank_sends_to_itself_or_twice_to_one_peer) {
  const auto all = plan({4, 2}, {9, 5, 7}, "S(0), S(2)", "S(1), S(0)");

  for (int rank = 0; rank < 8; ++rank) {
    std::vector<int> peers;
    const auto steps = all.steps(rank);
    for (const auto& block : steps.front().phases.front().send) peers.push_back(block.peer);
    std::ranges::sort(peers);
    EXPECT_EQ(std::ranges::adjacent_find(peers), peers.end());
    EXPECT_EQ(std::ranges::count(peers, rank), 0);
  }
}

TEST(Plan, on_64x64_ranks_takes_less_than_a_millisecond_and_lists_peers_alone) {
  const MeshLayout layout({64, 64});
  const DTensorSpec from(layout, {Shard(0), Shard(1)}, {1000, 999, 512});
  const DTensorSpec to(layout, {Shard(1), Shard(2)}, {1000, 999, 512});
  double best = 1.0;
  std::size_t blocks = 0;

  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    const auto steps = make_plan(from, to, float64).steps(2017);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    blocks = steps.front().phases.front().send.size() + steps.front().phases.front().receive.size();
  }

  std::printf("plan for 64x64 ranks: %.1f us, %zu blocks\n", best * 1e6, blocks);
  EXPECT_LT(best, is_instrumented ? 1e-1 : 1e-3);
  EXPECT_LE(blocks, 2u * 64 * 2);
}

TEST(Plan, of_three_mesh_dims_at_once_is_one_exchange) {
  EXPECT_EQ(exchanges({2, 2, 2}, {8, 8, 8}, "S(0), S(0), S(0)", "S(1), S(1), S(1)"), 1);
}

TEST(Plan, tiny_messages_to_many_ranks_go_by_one_mesh_dim_after_another) {
  EXPECT_EQ(exchanges({32, 32}, {1024, 1024}, "S(0), S(0)", "S(1), S(1)"), 2);
  EXPECT_EQ(exchanges({32, 32}, {32768, 32768}, "S(0), S(0)", "S(1), S(1)"), 1);
  EXPECT_EQ(exchanges({4, 4}, {16, 16}, "S(0), S(0)", "S(1), S(1)"), 1);
}

TEST(Plan, cost_model_decides_between_paths) {
  const MeshLayout layout({4});
  const DTensorSpec from(layout, {Partial()}, {64, 64});
  const DTensorSpec to(layout, {Replicate()}, {64, 64});
  const auto phases = [&](const CostModel& model) {
    return make_plan(from, to, float64, {.cost_model = model}).steps(0).front().phases.size();
  };

  EXPECT_EQ(phases({.seconds_per_message = 1}), 1U);
  EXPECT_EQ(phases({.seconds_per_message = 1e-12}), 2U);
}

/// On nodes of so many ranks, where what comes from other nodes is expensive.
RedistributePlan plan_on_nodes(const std::vector<int>& mesh, const Extents& ranks_per_node,
                               const Extents& shape, const char* from, const char* to) {
  const MeshLayout layout(mesh);
  return make_plan(
      DTensorSpec(layout, parse_placements(from), shape),
      DTensorSpec(layout, parse_placements(to), shape), float64,
      {.cost_model = {.seconds_per_node_byte = 1e-6}, .ranks_per_node = ranks_per_node});
}

/// Elements that these ranks receive from others.
std::int64_t received_from_outside(const RedistributePlan& plan, int first, int ranks) {
  std::int64_t elements = 0;
  for (int rank = first; rank < first + ranks; ++rank)
    for (const auto& step : plan.steps(rank))
      for (const auto& phase : step.phases)
        for (const auto& block : phase.receive)
          if (block.peer < first || block.peer >= first + ranks) elements += block.size();
  return elements;
}

TEST(Plan, what_ranks_of_a_node_need_in_common_is_fetched_in_shares) {
  for (const char* from : {"S(0)", "S(1)"}) {
    const auto plan = plan_on_nodes({8}, {4}, {64, 32}, from, "R");
    EXPECT_EQ(plan.exchanges(), 2);
    for (const int first : {0, 4})
      EXPECT_EQ(received_from_outside(plan, first, 4), 64 * 32 / 2) << from << first;
  }
  EXPECT_EQ(plan_on_nodes({2, 4}, {1, 4}, {64, 32}, "S(0), R", "R, R").exchanges(), 2);
  EXPECT_EQ(plan_on_nodes({2, 4}, {1, 4}, {64, 32}, "R, S(0)", "R, R").exchanges(), 1);
  EXPECT_EQ(plan_on_nodes({8}, {1}, {64, 32}, "S(0)", "R").exchanges(), 1);
}

TEST(Plan, steps_are_those_of_a_rank_that_takes_part) {
  const DTensorSpec from(MeshLayout({2}), {Shard(0)}, {8, 8});
  const DTensorSpec to(MeshLayout({3}), {Shard(1)}, {8, 8});

  for (const auto& plan : {make_plan(from, from, float64), make_plan_across(from, to, float64)})
    for (const int rank : {-1, static_cast<int>(plan.ranks().size())})
      EXPECT_THROW(plan.steps(rank), InvalidArgument) << rank;
}

TEST(Plan, shares_of_a_large_tensor_take_no_memory_besides_it) {
  const auto plan = plan_on_nodes({16}, {4}, {1 << 27}, "S(0)", "R");

  EXPECT_EQ(plan.exchanges(), 2);
}

TEST(Plan, the_sum_that_ranks_of_a_node_need_is_fetched_in_shares) {
  const auto plan = plan_on_nodes({8}, {4}, {64, 64}, "P(sum)", "R");

  EXPECT_EQ(plan.exchanges(), 3);
  EXPECT_EQ(plan.steps(0).front().kind, StepKind::reduce);
}

TEST(Plan, says_what_comes_from_other_nodes) {
  const auto text = plan_on_nodes({8}, {4}, {64, 32}, "S(0)", "R").explain();

  EXPECT_NE(text.find("between and within nodes (2, 4): S(0), S(0) -> R, S("), std::string::npos)
      << text;
  EXPECT_NE(text.find("from other nodes about 4096 bytes in "), std::string::npos) << text;
}

/// Elements that ranks receive from other nodes, of two ranks each, in each step.
std::vector<std::int64_t> received_from_other_nodes(const RedistributePlan& plan) {
  std::vector<std::int64_t> elements(plan.steps(0).size());
  for (int rank = 0; rank < plan.source().layout().size(); ++rank) {
    const auto steps = plan.steps(rank);
    for (std::size_t s = 0; s < steps.size(); ++s)
      for (const auto& phase : steps[s].phases)
        for (const auto& block : phase.receive)
          if (block.peer / 2 != rank / 2) elements[s] += block.size();
  }
  return elements;
}

TEST(Plan, by_way_of_nodes_only_the_exchange_in_the_middle_leaves_them) {
  const MeshLayout line(std::vector<int>{16});
  const MeshLayout grid({8, 2});
  const CostModel few{.seconds_per_message = 1e-9, .seconds_per_inter_node_message = 1};
  const auto plan_for = [&](const MeshLayout& layout, const Extents& ranks_per_node,
                            Boundaries boundaries, const Placements& from, const Placements& to) {
    return make_plan(DTensorSpec(layout, from, {37, 41}, std::move(boundaries)),
                     DTensorSpec(layout, to, {37, 41}), float64,
                     {.cost_model = few, .ranks_per_node = ranks_per_node});
  };
  const std::vector<std::int64_t> uneven{0,  1,  3,  3,  4,  6,  8,  9, 14,
                                         15, 20, 22, 23, 30, 31, 33, 37};

  for (const auto& boundaries : {Boundaries{}, Boundaries{uneven, {}}}) {
    const auto plan = plan_for(line, {2}, boundaries, {Shard(0)}, {Shard(1)});
    const auto received = received_from_other_nodes(plan);
    ASSERT_EQ(received.size(), 3U);
    EXPECT_EQ(received[0], 0);
    EXPECT_GT(received[1], 0);
    EXPECT_EQ(received[2], 0);
  }
  const auto plan = plan_for(grid, {1, 2}, {}, {Shard(0), Shard(0)}, {Shard(1), Shard(1)});
  const auto received = received_from_other_nodes(plan);
  ASSERT_EQ(received.size(), 3U);
  EXPECT_EQ(received[0] + received[2], 0);
}

TEST(Plan, what_lies_between_exchanges_respects_the_limit_of_extra_memory) {
  const MeshLayout layout(std::vector<int>{8});
  const auto exchanges_with = [&](std::int64_t extra_memory) {
    return make_plan(
               DTensorSpec(layout, {Shard(0)}, {64, 64}), DTensorSpec(layout, {Shard(1)}, {64, 64}),
               float64,
               {.extra_memory = extra_memory,
                .cost_model = {.seconds_per_message = 1e-9, .seconds_per_inter_node_message = 1},
                .ranks_per_node = {2}})
        .exchanges();
  };

  EXPECT_EQ(exchanges_with(2 * 64 * 64), 3);
  EXPECT_EQ(exchanges_with(2 * 64 * 64 - 1), 1);
}

TEST(Plan, refuses_nodes_that_do_not_divide_the_mesh) {
  for (const auto& ranks_per_node : {Extents{3}, Extents{0}, Extents{2, 2}})
    EXPECT_THROW(plan_on_nodes({8}, ranks_per_node, {64, 32}, "S(0)", "R"), InvalidArgument);
}

TEST(Plan, messages_respect_the_limit_of_extra_memory) {
  const MeshLayout layout({8});
  const DTensorSpec from(layout, {Shard(0)}, {1000, 1000});
  const DTensorSpec to(layout, {Shard(1)}, {1000, 1000});

  const auto tight = make_plan(from, to, float64, {.extra_memory = 100'000});

  EXPECT_LE(detail::PlanAccess::movement(tight).messages.bytes * 2 * 7, 100'000);
  EXPECT_LE(tight.cost().extra_memory, 100'000);
  EXPECT_EQ(detail::PlanAccess::movement(make_plan(from, to, float64)).messages.bytes, 1 << 20);
  EXPECT_EQ(detail::PlanAccess::movement(make_plan(from, to, float64, {.extra_memory = 1}))
                .messages.bytes,
            8);
}

TEST(Plan, operands_of_all_boxes_respect_the_limit_of_extra_memory) {
  const MeshLayout layout({2, 64});
  const DTensorSpec from(layout, {Partial(), Shard(0)}, {6400, 6400});
  const DTensorSpec to(layout, {Replicate(), Shard(1)}, {6400, 6400});

  const auto plan = make_plan(from, to, float64, {.extra_memory = 1'000'000});

  for (const auto& step : plan.steps(0))
    for (const auto& phase : step.phases) {
      const auto contributions = std::ranges::count_if(phase.receive, [&](const Block& block) {
        return phase.contributions > 1 && block.peer != 0;
      });
      EXPECT_LE(2 * contributions * detail::PlanAccess::movement(plan).messages.bytes, 1'000'000);
    }
}

/// Of the messages of a rank that may be under way at once.
std::int64_t bytes_under_way(const RedistributePlan& plan, int rank) {
  std::int64_t most = 0;
  const auto of_one = [&](const Block& block) {
    return std::min(block.size() * plan.element_type().size,
                    detail::PlanAccess::movement(plan).messages.bytes);
  };
  const auto of_largest = [&](std::vector<std::int64_t> messages) {
    std::ranges::sort(messages, std::greater());
    if (std::ssize(messages) > detail::PlanAccess::movement(plan).messages.at_once)
      messages.resize(
          static_cast<std::size_t>(detail::PlanAccess::movement(plan).messages.at_once));
    return std::accumulate(messages.begin(), messages.end(), std::int64_t{0});
  };
  for (const auto& step : plan.steps(rank))
    for (const auto& phase : step.phases) {
      std::vector<std::int64_t> sent;
      std::vector<std::int64_t> received;
      std::int64_t contributions = 0;
      std::int64_t moved = 0;  // to another memory space: one box at a time
      for (std::size_t i = 0; phase.contributions > 1 && i < phase.receive.size(); ++i)
        moved = std::max(moved, phase.contributions * of_one(phase.receive[i]));
      for (const auto& block : phase.send) sent.push_back(of_one(block));
      for (const auto& block : phase.receive) {
        if (block.peer == rank) continue;
        if (phase.contributions == 1) received.push_back(of_one(block));
        const auto two_chunks = 2 * detail::PlanAccess::movement(plan).messages.bytes;
        if (phase.contributions > 1)
          contributions += std::min(block.size() * plan.element_type().size, two_chunks);
      }
      most = std::max(most, of_largest(sent) + of_largest(received) + contributions + moved);
    }
  return most;
}

TEST(Plan, of_no_rank_has_more_messages_under_way_than_it_says) {
  const MeshLayout grid({2, 2});
  const MeshLayout three({3});
  const std::vector<DTensorSpec> specs{
      DTensorSpec(grid, {Partial(), Shard(0)}, {600, 500}),
      DTensorSpec(grid, {Partial(), Partial()}, {600, 500}),
      DTensorSpec(grid, {Shard(0), Shard(1)}, {600, 500}),
      DTensorSpec(grid, {Shard(0), Shard(1)}, {600, 500}, {{0, 599, 600}, {0, 1, 500}}),
      DTensorSpec(grid, {Shard(1), Partial()}, {600, 500}),
      DTensorSpec(grid, {Replicate(), Shard(1)}, {600, 500}),
      DTensorSpec(three, {Shard(0)}, {600, 500}),
      DTensorSpec(three, {Replicate()}, {600, 500}),
      DTensorSpec(three, {Partial()}, {600, 500})};
  for (const std::int64_t limit : {20'000, 200'000, 2'000'000, 5'000'000, 20'000'000})
    for (const auto& from : specs)
      for (const auto& to : specs) {
        if (to.placements()[0].is_partial()) continue;
        const auto plan = make_plan_across(from, to, float64, {.extra_memory = limit});
        for (int rank = 0; rank < std::ssize(plan.ranks()); ++rank) {
          const auto bytes = bytes_under_way(plan, rank);
          EXPECT_LE(bytes, plan.cost().extra_memory) << to_string(plan) << ", rank " << rank;
          EXPECT_LE(bytes, limit) << to_string(plan) << ", rank " << rank;
        }
      }
}

TEST(Plan, of_many_ranks_has_few_peers_where_a_mesh_dim_moves) {
  const auto text = plan({64, 64}, {1000, 999, 512}, "S(0), S(1)", "S(1), S(2)").explain();

  EXPECT_NE(text.find("63 peers"), std::string::npos) << text;
  EXPECT_EQ(exchanges({64, 64}, {1000, 999, 512}, "S(0), S(1)", "S(1), S(2)"), 1);
}

TEST(Plan, refuses_other_shapes_other_meshes_and_ops_without_meaning) {
  const MeshLayout layout(std::vector<int>{4});
  const DTensorSpec rows(layout, {Shard(0)}, {8, 8});
  const DTensorSpec partial(layout, {Partial(ReduceOp::band)}, {8, 8});

  EXPECT_THROW(make_plan(rows, DTensorSpec(layout, {Shard(0)}, {8, 9}), float64), InvalidArgument);
  EXPECT_THROW(
      make_plan(rows, DTensorSpec(MeshLayout({2, 2}), {Shard(0), Replicate()}, {8, 8}), float64),
      MeshMismatch);
  EXPECT_THROW(make_plan(partial, rows, float64), InvalidArgument);
  EXPECT_THROW(make_plan(rows, partial, float64), InvalidArgument);
  EXPECT_NO_THROW(make_plan(partial, partial, float64));
}

TEST(Plan, describes_itself_as_text) {
  const auto text = plan({4}, {4096, 64}, "P(sum)", "R").explain();

  EXPECT_NE(text.find("(4096, 64) on (4) as P(sum) -> R: 1 exchange"), std::string::npos) << text;
  EXPECT_NE(text.find("4 contributions reduced by sum"), std::string::npos) << text;
}

TEST(Plan, explains_bytes_beside_the_least_that_are_needed) {
  const auto text = plan({4}, {8, 8}, "S(0)", "S(1)").explain();

  EXPECT_NE(text.find("busiest rank receives 96 bytes, at least 96 are needed"), std::string::npos)
      << text;
}

}  // namespace
