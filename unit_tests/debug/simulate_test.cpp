// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/debug/simulate.hpp>

#include "../support/errors.hpp"
#include "../support/generator.hpp"
#include "../support/plans.hpp"
#include "../support/random_case.hpp"
#include "debug/rank_loads.hpp"
#include "debug/simulated_piece.hpp"
#include "debug/transfers.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using detail::compared, detail::SimulatedPiece, detail::source_piece;

RedistributePlan plan_of(const MeshLayout& layout, const Placements& from, const Placements& to,
                         const Extents& shape) {
  return make_plan({layout, from, shape}, {layout, to, shape}, element_type<double>());
}

std::int64_t elements_needed(const RedistributePlan& plan, int rank) {
  const auto need = piece_of(plan.target(), rank);
  return need.size() - common_size(need, piece_of(plan.source(), rank));
}

/// Blocks that a rank receives from others, listed.
std::int64_t received_blocks(const RedistributePlan& plan, int rank) {
  std::int64_t blocks = 0;
  for (const auto& step : plan.steps(rank))
    for (const auto& phase : step.phases)
      blocks += std::ranges::count_if(phase.receive, [&](const auto& b) { return b.peer != rank; });
  return blocks;
}

/// What is counted from intervals is what the blocks say.
void expect_counts_of_blocks(const RedistributePlan& plan, const Simulation& simulation) {
  const detail::RankLoads loads(plan);
  std::int64_t messages = 0;
  for (int rank = 0; rank < loads.size(); ++rank) {
    const auto load = loads.of(rank);
    EXPECT_EQ(load.bytes_received, received_elements(plan, rank) * plan.element_type().size);
    EXPECT_EQ(load.bytes_received, simulation.bytes_received[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(load.messages_received, received_blocks(plan, rank));
    EXPECT_LE(load.bytes_needed, load.bytes_received);
    messages += load.messages_received;
  }
  EXPECT_EQ(simulation.messages, messages);
}

TEST(Simulate, random_transitions_of_the_planner_are_right) {
  Generator generator(seed());
  int partials = 0;
  int with_stages = 0;

  for (int number = 0; number < 6000 && !HasFailure(); ++number) {
    const auto random = random_case(generator, 16);
    const auto settings = random_settings(generator, random.source.layout());
    SCOPED_TRACE("case " + std::to_string(number) + ": " + to_string(random.source) + " -> " +
                 to_string(random.target) + ", " + to_string(random.type));

    const auto plan = detail::plan_on_one_mesh(random.source, random.target, random.type, settings);
    const auto simulation = simulate(plan);

    EXPECT_EQ(simulation.mistake, "");
    EXPECT_EQ(simulation.exchanges, plan.exchanges());
    expect_counts_of_blocks(plan, simulation);
    if (plan.partial_target()) ++partials;
    if (plan.exchanges() > 1) ++with_stages;
  }
  EXPECT_GT(partials, 600);
  EXPECT_GT(with_stages, 100);
}

TEST(Simulate, averages_of_several_mesh_dims_and_kept_contributions_are_right) {
  const MeshLayout layout({2, 3, 2});
  const Extents shape{7, 5};
  const Placement avg = Partial(ReduceOp::avg);
  const Placement sum = Partial();
  const std::vector<Placements> all = {{avg, avg, sum},      {avg, sum, Replicate()},
                                       {Shard(1), avg, sum}, {Replicate(), avg, Shard(0)},
                                       {sum, sum, avg},      {Shard(0), Shard(0), Shard(1)}};

  for (const auto& from : all)
    for (const auto& to : all)
      EXPECT_EQ(simulate(plan_of(layout, from, to, shape)).mistake, "")
          << to_string(from) << " -> " << to_string(to);
}

TEST(Simulate, random_transitions_to_another_mesh_are_right) {
  Generator generator(seed());
  const auto random_layout = [&] {
    const auto shape = random_mesh_shape(generator, 8);
    std::vector<int> ranks(12);
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::shuffle(ranks, generator);
    ranks.resize(static_cast<std::size_t>(MeshLayout(shape).size()));
    return MeshLayout::from_ranks(ranks, shape);
  };
  const auto random_spec = [&](const Extents& shape, ReduceOp op) {
    const auto layout = random_layout();
    const auto placements =
        random_placements(generator, layout.ndim(), static_cast<int>(shape.size()), op);
    return with_random_boundaries(generator, DTensorSpec(layout, placements, shape));
  };

  for (int number = 0; number < 2000 && !HasFailure(); ++number) {
    const auto shape = random_shape(generator);
    const auto source = random_spec(shape, static_cast<ReduceOp>(draw(generator, 0, 7)));
    const auto target = random_spec(shape, static_cast<ReduceOp>(draw(generator, 0, 7)));
    SCOPED_TRACE(to_string(source) + " -> " + to_string(target));

    const auto plan = make_plan_across(source, target, element_type<std::int32_t>());
    const auto simulation = simulate(plan);

    EXPECT_EQ(simulation.mistake, "");
    expect_counts_of_blocks(plan, simulation);
  }
}

TEST(Simulate, counts_what_a_transposition_moves) {
  const auto plan = plan_of(MeshLayout({4}), {Shard(0)}, {Shard(1)}, {8, 12});

  const auto simulation = simulate(plan);

  EXPECT_EQ(simulation.exchanges, 1);
  EXPECT_EQ(simulation.messages, 4 * 3);
  EXPECT_EQ(simulation.bytes_received, std::vector<std::int64_t>(4, 3 * 2 * 3 * 8));
  EXPECT_EQ(simulation.bytes, 4 * 3 * 2 * 3 * 8);
  EXPECT_EQ(simulation.peak_bytes, 2 * 24 * 8);
  EXPECT_EQ(simulation.elements_checked, 8 * 12);
  EXPECT_TRUE(simulation.is_right());
}

TEST(Simulate, needs_no_message_where_a_rank_has_what_it_needs) {
  const auto simulation = simulate(plan_of(MeshLayout({4}), {Replicate()}, {Shard(0)}, {5, 3}));

  EXPECT_EQ(simulation.exchanges, 0);
  EXPECT_EQ(simulation.messages, 0);
  EXPECT_EQ(simulation.bytes, 0);
}

TEST(Simulate, refuses_tensors_that_are_too_large) {
  const auto plan = plan_of(MeshLayout({4}), {Shard(0)}, {Replicate()}, {1 << 20, 100});

  EXPECT_EQ(message_of<InvalidArgument>([&] { simulate(plan); }),
            "simulate: expected at most 67108864 elements that ranks hold and combine and 1048576 "
            "messages, got 943718400 and 12");
}

TEST(Simulate, refuses_more_messages_than_it_keeps) {
  const auto plan = plan_of(MeshLayout({2000}), {Shard(0)}, {Shard(1)}, {2000, 2000});

  EXPECT_EQ(message_of<InvalidArgument>([&] { simulate(plan); }),
            "simulate: expected at most 67108864 elements that ranks hold and combine and 1048576 "
            "messages, got 12000000 and 3998000");
}

TEST(RankLoads, are_those_of_the_plan_beside_mesh_dims_of_one_rank) {
  const std::vector<Placement> choices{Shard(0), Shard(1), Replicate(), Partial()};
  for (const auto& before : choices)
    for (const auto& after : choices) {
      const auto plan =
          plan_of(MeshLayout({3, 1}), {Partial(), before}, {Replicate(), after}, {36, 36});
      expect_counts_of_blocks(plan, simulate(plan));
    }
}

TEST(RankLoads, needs_is_less_than_what_is_received_where_contributions_travel) {
  const auto plan = plan_of(MeshLayout({4}), {Partial()}, {Replicate()}, {800, 200});
  const detail::RankLoads loads(plan);
  constexpr std::int64_t share = 200 * 200 * 8;

  EXPECT_EQ(loads.of(3).bytes_needed, 4 * share);
  EXPECT_EQ(loads.of(3).bytes_received, 2 * 3 * share);
  EXPECT_EQ(loads.of(3).memory, 8 * share);
}

TEST(RankLoads, needed_is_what_a_direct_exchange_moves) {
  const auto plan =
      plan_of(MeshLayout({3, 2}), {Shard(0), Replicate()}, {Shard(1), Shard(0)}, {10, 7});
  const detail::RankLoads loads(plan);

  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(loads.of(rank).bytes_needed, elements_needed(plan, rank) * 8);
    EXPECT_EQ(loads.of(rank).bytes_received, loads.of(rank).bytes_needed);
  }
}

std::vector<SimulatedPiece> pieces_of(const DTensorSpec& spec) {
  std::vector<SimulatedPiece> pieces;
  for (int rank = 0; rank < spec.layout().size(); ++rank)
    pieces.push_back(source_piece(spec, rank));
  return pieces;
}

TEST(SimulatedPiece, what_sources_hold_is_the_global_index_whatever_reduces_it) {
  for (int op = 0; op <= static_cast<int>(ReduceOp::bxor); ++op) {
    const Placement partial = Partial(static_cast<ReduceOp>(op));
    const DTensorSpec spec(MeshLayout({2, 3, 2}), {partial, Shard(0), partial}, {5, 4});

    const auto comparison = compared(spec, pieces_of(spec));

    EXPECT_EQ(comparison.mistake, "") << to_string(spec);
    EXPECT_EQ(comparison.elements, 20);
  }
}

TEST(SimulatedPiece, a_wrong_element_is_found) {
  const DTensorSpec spec(MeshLayout({2, 2}), {Shard(0), Replicate()}, {5, 4});
  auto pieces = pieces_of(spec);

  pieces[2].values[3] = 7;

  EXPECT_EQ(compared(spec, pieces).mistake,
            "rank 2: expected 15 in element 3 of its piece [3:5, 0:4], got 7");
}

TEST(SimulatedPiece, an_element_that_nobody_wrote_is_found) {
  const DTensorSpec spec(MeshLayout({2}), {Shard(0)}, {4});
  auto pieces = pieces_of(spec);

  pieces[1].values[0] = detail::not_written;

  EXPECT_EQ(compared(spec, pieces).mistake,
            "rank 1: expected 2 in element 0 of its piece [2:4], got nothing");
}

TEST(SimulatedPiece, a_wrong_contribution_is_found_whatever_reduces_it) {
  for (int op = 0; op <= static_cast<int>(ReduceOp::bxor); ++op) {
    const DTensorSpec spec(MeshLayout({3}), {Partial(static_cast<ReduceOp>(op))}, {6});
    auto pieces = pieces_of(spec);
    const bool takes_smallest = spec.placements()[0].is_partial(ReduceOp::min) ||
                                spec.placements()[0].is_partial(ReduceOp::band);

    pieces[2].values[5] = takes_smallest ? 0 : 1000;

    EXPECT_NE(compared(spec, pieces).mistake, "") << to_string(spec);
  }
}

TEST(SimulatedPiece, pieces_of_another_spec_are_found) {
  const MeshLayout layout({2});
  const DTensorSpec rows(layout, {Shard(0)}, {4, 6});
  const DTensorSpec columns(layout, {Shard(1)}, {4, 6});

  EXPECT_EQ(compared(columns, pieces_of(rows)).mistake,
            "rank 0: expected a piece [0:4, 0:3], got [0:2, 0:6]");
}

const detail::BlockTransfer block{1, 2, {3}, {{3, 3, {0, 3}, {5, 3}}}};
const detail::BlockTransfer other_place{1, 2, {3}, {{3, 3, {0, 3}, {6, 3}}}};

TEST(Transfers, both_sides_may_list_them_in_any_order) {
  const detail::BlockTransfer other{0, 2, {1}, {{1, 1, {0, 1}, {0, 1}}}};

  EXPECT_EQ(detail::transfer_mistake({block, other}, {other, block}), "");
}

TEST(Transfers, a_block_that_nobody_awaits_is_a_mistake) {
  EXPECT_EQ(detail::transfer_mistake({block}, {}),
            "rank 1 sends a block of shape (3) to rank 2, which does not await it");
}

TEST(Transfers, a_block_that_nobody_sends_is_a_mistake) {
  EXPECT_EQ(detail::transfer_mistake({block}, {block, other_place}),
            "rank 2 awaits a block of shape (3) from rank 1, which does not send it");
}

TEST(Transfers, another_place_is_a_mistake) {
  EXPECT_EQ(detail::transfer_mistake({block}, {other_place}),
            "rank 1 sends a block of shape (3) to rank 2, which does not await it");
}

}  // namespace
