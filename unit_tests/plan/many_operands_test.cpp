// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of so many operands that they are received group by group.
#include <cstring>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <tessera/placement/placements.hpp>
#include <tessera/plan/plan.hpp>

#include "../support/generator.hpp"
#include "../support/random_case.hpp"
#include "../support/simulate.hpp"
#include "../support/test_array.hpp"
#include "kernels/reduction.hpp"
#include "plan/movement.hpp"
#include "plan/partial_tree.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

/// The tree over leaves first … last - 1, as text.
std::string tree(int first, int last) {
  if (last - first == 1) return std::to_string(first);
  const auto middle = static_cast<int>(detail::split_point(first, last));
  return "(" + tree(first, middle) + " " + tree(middle, last) + ")";
}

/// Adds the leaves from `start` on, downwards, round all of them.
std::string built_from(int leaves, int start) {
  detail::PartialTree partial(leaves);
  std::map<int, std::string> slots;
  std::string root;
  for (int k = 0; k < leaves; ++k) {
    const int leaf = (start - k + leaves) % leaves;
    const int slot = partial.add(leaf);
    EXPECT_LT(slot, detail::PartialTree::slots(leaves)) << leaves << " leaves from " << start;
    slots[slot] = std::to_string(leaf);
    while (const auto merge = partial.merge()) {
      const auto both = "(" + slots[merge->left] + " " + slots[merge->right] + ")";
      (merge->is_root ? root : slots[merge->left]) = both;
    }
  }
  return root;
}

TEST(PartialTree, is_the_fixed_tree_wherever_its_leaves_begin) {
  for (int leaves = 2; leaves <= 70; ++leaves)
    for (int start = 0; start < leaves; ++start)
      ASSERT_EQ(built_from(leaves, start), tree(0, leaves)) << "from " << start;
}

TEST(PartialTree, of_many_leaves_keeps_few) {
  for (const int leaves : {1023, 1024, 1025})
    for (int start = 0; start < leaves; start += 93)
      EXPECT_EQ(built_from(leaves, start), tree(0, leaves)) << "from " << start;
}

/// Pieces on all ranks; random numbers on the source.
class Pieces {
 public:
  Pieces(const DTensorSpec& spec, bool is_source) {
    Generator generator(seed());
    std::uniform_real_distribution<double> number(-1, 1);
    for (int rank = 0; rank < spec.layout().size(); ++rank) {
      arrays_.emplace_back(generator, element_type<double>(), spec.local_shape(rank));
      if (!is_source) continue;
      for_each_index(spec.local_shape(rank), [&](const Extents& index) {
        const double value = number(generator);
        std::memcpy(arrays_.back().element(index), &value, sizeof value);
      });
    }
  }
  std::vector<ArrayRef> arrays() const {
    std::vector<ArrayRef> result;
    for (const auto& array : arrays_) result.push_back(array.array());
    return result;
  }
  /// Of all ranks, row-major.
  std::vector<double> values() const {
    std::vector<double> result;
    for (const auto& array : arrays_)
      for_each_index(array.array().extents, [&](const Extents& index) {
        std::memcpy(&result.emplace_back(), array.element(index), sizeof(double));
      });
    return result;
  }

 private:
  std::vector<StridedArray> arrays_;
};

struct Case {
  std::vector<int> mesh;
  const char* from;
  const char* to;
};

/// That a rank reduces.
int most_boxes(const RedistributePlan& plan) {
  std::ptrdiff_t most = 0;
  for (int rank = 0; rank < std::ssize(plan.ranks()); ++rank) {
    const auto phase = plan.steps(rank).front().phases.front();
    most = std::max(most, std::ssize(phase.receive) / phase.contributions);
  }
  return static_cast<int>(most);
}

void expect_the_same_bits(const Case& c, int at_once, int messages_at_once) {
  SCOPED_TRACE(std::string(c.from) + " -> " + c.to + " on " + std::to_string(c.mesh.front()) +
               " ranks, operands at once " + std::to_string(at_once));
  const MeshLayout layout(c.mesh);
  const Extents shape{MeshLayout(c.mesh).size() + 3, 5};
  const DTensorSpec source(layout, parse_placements(c.from), shape);
  const DTensorSpec target(layout, parse_placements(c.to), shape);
  const auto plan = make_plan(source, target, element_type<double>(), {.extra_memory = 1000});
  const Pieces contributions(source, true);
  const Pieces expected(target, false);
  const Pieces results(target, false);

  simulate(plan, contributions.arrays(), expected.arrays(), {.operands_at_once = 1 << 10});
  const int most = simulate(plan, contributions.arrays(), results.arrays(),
                            {.messages_at_once = messages_at_once, .operands_at_once = at_once});

  EXPECT_EQ(results.values(), expected.values());
  const int of_a_box = 2 * at_once + detail::PartialTree::slots(layout.size());
  EXPECT_LE(most, std::max(of_a_box * most_boxes(plan), messages_at_once));
}

TEST(ManyOperands, in_groups_give_the_bits_of_all_at_once) {
  for (const int ranks : {2, 3, 7, 8, 13, 33})
    for (const int at_once : {1, 2, 8})
      for (const int messages_at_once : {1, 64}) {
        expect_the_same_bits({{ranks}, "P", "S(0)"}, at_once, messages_at_once);
        expect_the_same_bits({{ranks}, "P(avg)", "R"}, at_once, messages_at_once);
      }
  expect_the_same_bits({{67}, "P", "S(0)"}, 32, 64);
}

TEST(ManyOperands, on_grids_of_ranks_as_well) {
  for (const auto& mesh : {std::vector{5, 3}, std::vector{3, 7}, std::vector{8, 4}})
    for (const int at_once : {1, 2, 4}) {
      expect_the_same_bits({mesh, "P, S(0)", "S(0), S(0)"}, at_once, 2);
      expect_the_same_bits({mesh, "P, S(0)", "S(1), S(1)"}, at_once, 1);
      expect_the_same_bits({mesh, "S(0), P", "R, S(1)"}, at_once, 3);
      expect_the_same_bits({mesh, "P, P", "R, S(0)"}, at_once, 2);
    }
}

TEST(ManyOperands, of_thousands_of_ranks_are_received_few_at_once) {
  for (const int ranks : {64, 65, 1000, 4096}) {
    const MeshLayout layout({ranks});
    const DTensorSpec source(layout, {Partial()}, {1 << 16, 64});
    const auto plan =
        make_plan(source, DTensorSpec(layout, {Shard(0)}, {1 << 16, 64}), element_type<double>());

    EXPECT_EQ(detail::PlanAccess::movement(plan).messages.operands_at_once, 32);
    EXPECT_LE(detail::PlanAccess::movement(plan).messages.buffers, 64 + 3 * 32 + 2 * 15);
  }
}

}  // namespace
