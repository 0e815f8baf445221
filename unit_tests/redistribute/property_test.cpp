// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Random redistributions with all ranks in this process, through the real plan and kernels, against
// a serial oracle.
// Host memory only: the ranks of a simulation read and write one another's memory.
#include <algorithm>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include <tessera/plan/plan.hpp>

#include "../support/generator.hpp"
#include "../support/oracle.hpp"
#include "../support/plans.hpp"
#include "../support/simulate.hpp"
#include "plan/mesh_pair.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

/// Elements that a rank needs and does not have, and so the least that it can receive.
std::int64_t least_received(const RandomCase& random, int rank) {
  const auto need = piece_of(random.target, rank);
  return need.size() - common_size(need, piece_of(random.source, rank));
}

void expect_lower_bound(const RandomCase& random, const RedistributePlan& plan) {
  if (random.source.placements().has_partial() || random.target.placements().has_partial()) return;
  for (int rank = 0; rank < random.source.layout().size(); ++rank)
    EXPECT_EQ(received_elements(plan, rank), least_received(random, rank)) << "rank " << rank;
}

std::string first_difference(const RandomCase& random, const std::vector<StridedArray>& results) {
  const auto value_at = [&](int rank, const Extents& index) {
    const auto local = local_index(piece_of(random.target, rank), index);
    return load(results[static_cast<std::size_t>(rank)].element(*local), random.type);
  };
  return test::first_difference(random, value_at);
}

TEST(RedistributeProperty, every_random_transition_gives_what_the_serial_oracle_gives) {
  std::printf("seed %u (set TESSERA_TEST_SEED to repeat)\n", seed());
  Generator generator(seed());
  const int count = cases(20000);
  int exact = 0;
  int by_nodes = 0;

  for (int number = 0; number < count && !HasFailure(); ++number) {
    const auto random = random_case(generator, 16);
    const auto settings = random_settings(generator, random.source.layout());
    const auto plan = detail::plan_on_one_mesh(random.source, random.target, random.type, settings);
    std::vector<StridedArray> pieces;
    std::vector<StridedArray> results;
    for (int rank = 0; rank < random.source.layout().size(); ++rank) {
      pieces.emplace_back(generator, random.type, random.source.local_shape(rank));
      results.emplace_back(generator, random.type, random.target.local_shape(rank));
      fill_source(random.source, rank, pieces.back());
    }
    std::vector<ArrayRef> sources;
    std::vector<ArrayRef> destinations;
    for (const auto& piece : pieces) sources.push_back(piece.array());
    for (const auto& result : results) destinations.push_back(result.array());

    simulate(plan, sources, destinations,
             random_nodes(generator, random.source.layout().size(), random.type));

    SCOPED_TRACE("case " + std::to_string(number) + ": " + to_string(random.source) + " -> " +
                 to_string(random.target) + ", " + to_string(random.type));
    if (settings.ranks_per_node.empty()) expect_lower_bound(random, plan);
    const auto direct = make_plan(random.source, random.target, random.type);
    if (plan.exchanges() > direct.exchanges()) ++by_nodes;
    if (!is_exact_for_integers(random)) continue;
    ++exact;
    EXPECT_EQ(first_difference(random, results), "");
  }
  EXPECT_GT(exact, 0.7 * count);
  EXPECT_GT(by_nodes, 0.01 * count);
}

/// Between two meshes of some of 12 ranks in any order.
RandomCase random_case_across(Generator& generator) {
  const auto random_layout = [&] {
    const auto shape = random_mesh_shape(generator, 8);
    std::vector<int> ranks(12);
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::shuffle(ranks, generator);
    ranks.resize(static_cast<std::size_t>(MeshLayout(shape).size()));
    return MeshLayout::from_ranks(ranks, shape);
  };
  const auto like = random_case(generator, 1);
  const int tensor_dims = like.source.tensor_dims();
  const auto random_spec = [&](const MeshLayout& layout) {
    const auto op =
        can_reduce(ReduceOp::sum, like.type.kind)
            ? std::optional(draw(generator, 0, 1) == 0 ? ReduceOp::sum : ReduceOp::product)
            : std::nullopt;
    const auto placements = random_placements(generator, layout.ndim(), tensor_dims, op);
    return with_random_boundaries(generator, DTensorSpec(layout, placements, like.source.shape()));
  };
  return {random_spec(random_layout()), random_spec(random_layout()), like.type};
}

TEST(RedistributeProperty, every_random_transition_to_another_mesh_gives_what_the_oracle_gives) {
  Generator generator(seed());

  for (int number = 0, count = cases(10000); number < count && !HasFailure(); ++number) {
    const auto random = random_case_across(generator);
    if (random.source.layout() == random.target.layout()) continue;
    const auto plan = make_plan_across(random.source, random.target, random.type,
                                       {.extra_memory = draw(generator, 0, 4000)});
    const detail::MeshPair pair(random.source.layout(), random.target.layout());
    std::vector<StridedArray> pieces;
    std::vector<StridedArray> results;
    std::vector<ArrayRef> sources;
    std::vector<ArrayRef> destinations;
    for (int position = 0; position < pair.size(); ++position) {
      pieces.emplace_back(generator, random.type, pair.piece(random.source, position).shape());
      results.emplace_back(generator, random.type, pair.piece(random.target, position).shape());
      const int rank = pair.mesh_rank(random.source.layout(), position);
      if (rank >= 0) fill_source(random.source, rank, pieces.back());
    }
    for (const auto& piece : pieces) sources.push_back(piece.array());
    for (const auto& result : results) destinations.push_back(result.array());

    SCOPED_TRACE("case " + std::to_string(number) + ": " + to_string(random.source) + " -> " +
                 to_string(random.target) + ", " + to_string(random.type));
    simulate(plan, sources, destinations, random_nodes(generator, pair.size(), random.type));

    if (!is_exact_for_integers(random)) continue;
    const auto value_at = [&](int rank, const Extents& index) {
      const int position = pair.position(random.target.layout(), rank);
      const auto local = local_index(pair.piece(random.target, position), index);
      return load(results[static_cast<std::size_t>(position)].element(*local), random.type);
    };
    EXPECT_EQ(test::first_difference(random, value_at), "");
    if (random.source.placements().has_partial() || random.target.placements().has_partial())
      continue;
    for (int position = 0; position < pair.size(); ++position) {
      const auto need = pair.piece(random.target, position);
      const auto has = common_size(need, pair.piece(random.source, position));
      const bool is_on_target = pair.mesh_rank(random.target.layout(), position) >= 0;
      const bool is_on_source = pair.mesh_rank(random.source.layout(), position) >= 0;
      EXPECT_EQ(received_elements(plan, position),
                is_on_target ? need.size() - (is_on_source ? has : 0) : 0);
    }
  }
}

TEST(RedistributeStages, of_three_mesh_dims_one_after_another_give_the_same) {
  const MeshLayout layout({4, 4, 4});
  const std::vector<Placement> rows(3, Shard(0));
  const std::vector<Placement> columns(3, Shard(1));
  const RandomCase random{
      {layout, rows, {256, 260}}, {layout, columns, {256, 260}}, element_type<double>()};
  const auto plan = make_plan(random.source, random.target, random.type);
  Generator generator(seed());
  std::vector<StridedArray> pieces;
  std::vector<StridedArray> results;
  std::vector<ArrayRef> sources;
  std::vector<ArrayRef> destinations;
  for (int rank = 0; rank < layout.size(); ++rank) {
    pieces.emplace_back(generator, random.type, random.source.local_shape(rank));
    results.emplace_back(generator, random.type, random.target.local_shape(rank));
    fill_source(random.source, rank, pieces.back());
  }
  for (const auto& piece : pieces) sources.push_back(piece.array());
  for (const auto& result : results) destinations.push_back(result.array());

  simulate(plan, sources, destinations);

  EXPECT_EQ(plan.exchanges(), 3);
  EXPECT_EQ(first_difference(random, results), "");
}

}  // namespace
