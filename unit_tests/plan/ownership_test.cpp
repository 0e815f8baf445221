// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans between all rules of ownership, with all ranks simulated in this process.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/debug/simulate.hpp>
#include <tessera/plan/plan.hpp>

namespace {

using namespace tessera;

bool has_partial(const RedistributePlan& plan) {
  return plan.source().placements().has_partial() || plan.target().placements().has_partial();
}

/// Returns what is wrong with a plan: its result, too many steps, or more bytes than are needed.
std::string mistake_of(const RedistributePlan& plan) {
  const auto simulation = simulate(plan);
  if (!simulation.is_right()) return simulation.mistake;
  const auto steps = plan.steps(0);
  int exchanges = 0;
  int reductions = 0;
  for (const auto& step : steps) {
    if (step.communicates) ++(step.kind == StepKind::reduce ? reductions : exchanges);
    for (const auto& phase : step.phases)
      for (const auto* blocks : {&phase.send, &phase.receive})
        if (blocks->size() > static_cast<std::size_t>(plan.source().layout().size()) *
                                 static_cast<std::size_t>(phase.contributions))
          return "more messages than ranks";
  }
  if (exchanges > 1 || reductions > 1) return "too many steps";
  if (has_partial(plan)) return "";
  if ((plan.exchanges() == 0) != (simulation.bytes == 0)) return "an exchange of nothing";
  if (agree(plan.source(), plan.target()) && plan.exchanges() != 0)
    return "an exchange between specs that agree";
  for (int rank = 0; rank < plan.source().layout().size(); ++rank) {
    const auto coordinate = plan.source().layout().coordinate(rank);
    const auto need = plan.target().sections(coordinate);
    const auto lacks = need.size() - common_size(need, plan.source().sections(coordinate));
    if (simulation.bytes_received[static_cast<std::size_t>(rank)] !=
        lacks * plan.element_type().size)
      return "rank " + std::to_string(rank) + " receives other bytes than it lacks";
  }
  return "";
}

RedistributePlan plan_of(const MeshLayout& layout, const Placements& from, const Placements& to,
                         const Extents& shape) {
  return make_plan(DTensorSpec(layout, from, shape), DTensorSpec(layout, to, shape),
                   element_type<double>());
}

TEST(Ownership, of_lines_moves_between_all_rules) {
  std::vector<Placement> rules{Replicate(), Partial(), Shard(0), Balanced(0), HeadTail(0)};
  for (int block = 1; block <= 7; ++block) rules.emplace_back(Cyclic(0, block));
  for (int ranks = 1; ranks <= 6; ++ranks) {
    const MeshLayout layout({ranks});
    for (std::int64_t extent = 0; extent <= 40; ++extent)
      for (const auto& from : rules)
        for (const auto& to : rules) {
          const auto plan = plan_of(layout, {from}, {to}, {extent});
          ASSERT_EQ(mistake_of(plan), "") << to_string(plan);
        }
  }
}

TEST(Ownership, of_matrices_moves_between_all_rules) {
  const MeshLayout layout({2, 2});
  const std::vector<Placement> rules{Replicate(),  Partial(),    Shard(0),     Shard(1),
                                     Balanced(0),  Balanced(1),  HeadTail(0),  HeadTail(1),
                                     Cyclic(0, 1), Cyclic(0, 2), Cyclic(1, 1), Cyclic(1, 3)};
  std::vector<Placements> all;
  for (const auto& first : rules)
    for (const auto& second : rules) {
      try {
        all.push_back(Placements{first, second});
      } catch (const InvalidArgument&) {
        continue;  // Cyclic and HeadTail share their dim with no other
      }
    }
  ASSERT_GT(all.size(), 80u);
  std::size_t number = 0;
  for (const std::int64_t rows : {0, 1, 5, 7})
    for (const std::int64_t columns : {0, 1, 5, 7})
      for (const auto& from : all)
        for (const auto& to : all) {
          // Partials in every seventh case: their reductions are many.
          if ((from.has_partial() || to.has_partial()) && ++number % 7 != 0) continue;
          const auto plan = plan_of(layout, from, to, {rows, columns});
          ASSERT_EQ(mistake_of(plan), "") << to_string(plan);
        }
}

TEST(Ownership, of_grids_of_blocks_moves_there_and_back_in_one_exchange) {
  const MeshLayout layout({2, 2});
  const Placements blocks{Cyclic(0, 2), Cyclic(1, 3)};
  const Placements chunks{Shard(0), Shard(1)};

  for (const auto& [from, to] : {std::pair(blocks, chunks), std::pair(chunks, blocks)}) {
    const auto plan = plan_of(layout, from, to, {9, 9});
    EXPECT_EQ(mistake_of(plan), "");
    EXPECT_EQ(plan.exchanges(), 1);
  }
}

TEST(Ownership, balanced_and_chunks_that_agree_need_no_exchange) {
  EXPECT_EQ(plan_of(MeshLayout({4}), {Balanced(0)}, {Shard(0)}, {8}).exchanges(), 0);
  EXPECT_EQ(plan_of(MeshLayout({4}), {Balanced(0)}, {Shard(0)}, {9}).exchanges(), 1);
  EXPECT_EQ(plan_of(MeshLayout({4}), {Balanced(0)}, {Shard(0)}, {11}).exchanges(), 0);
}

TEST(Ownership, of_single_elements_of_a_huge_matrix_is_planned_at_once) {
  const MeshLayout layout({10, 10});
  const Extents shape{1'000'000, 1'000'000};
  const auto before = std::chrono::steady_clock::now();

  const auto plan = plan_of(layout, {Cyclic(0, 1), Cyclic(1, 1)}, {Shard(0), Shard(1)}, shape);
  std::size_t bytes = 0;
  for (const auto& step : plan.steps(37))
    for (const auto& phase : step.phases)
      for (const auto* blocks : {&phase.send, &phase.receive}) {
        bytes += blocks->size() * sizeof(Block);
        for (const auto& block : *blocks)
          for (std::size_t d = 0; d < 2; ++d)
            bytes += blocks->runs(block, d).size() * sizeof(IndexRun);
      }

  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
  EXPECT_LT(seconds.count(), 0.1);
  EXPECT_LT(bytes, 1'000'000u);
  EXPECT_EQ(plan.exchanges(), 1);
}

TEST(Ownership, lists_of_runs_grow_with_sections_and_peers_along_each_dim) {
  const auto plan = plan_of(MeshLayout({8, 8}), {Cyclic(0, 3), Cyclic(1, 5)}, {Shard(0), Shard(1)},
                            {100'000, 100'000});

  const auto steps = plan.steps(9);
  for (const auto& phase : steps.front().phases)
    for (const auto* blocks : {&phase.send, &phase.receive}) {
      EXPECT_GE(blocks->size(), 63u);
      EXPECT_LE(blocks->lists(), 16u);
    }
}

}  // namespace
