// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a plan is dearer, by the cost model, than two plans by way of another distribution.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/plan/plan.hpp>

namespace {

using namespace tessera;

/// All placements of a tensor on a mesh, and the cost of going from each to each.
class AllPairs {
 public:
  AllPairs(const std::vector<int>& mesh, const Extents& shape) {
    std::vector<Placement> choices{Replicate(), Partial()};
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) choices.emplace_back(Shard(d));
    std::vector<std::vector<Placement>> all{{}};
    for (std::size_t d = 0; d < mesh.size(); ++d) {
      std::vector<std::vector<Placement>> longer;
      for (const auto& list : all)
        for (const auto& choice : choices) {
          longer.push_back(list);
          longer.back().push_back(choice);
        }
      all = std::move(longer);
    }
    for (const auto& list : all) specs_.emplace_back(MeshLayout(mesh), Placements(list), shape);
    for (const auto& from : specs_)
      for (const auto& to : specs_) {
        const auto plan = make_plan(from, to, element_type<double>());
        const auto cost = plan.cost();
        seconds_.push_back(plan.exchanges() > 0 ? cost.seconds : 0);
        bytes_.push_back(plan.exchanges() > 0 ? static_cast<double>(cost.bytes_received) : 0);
      }
  }

  std::size_t pairs() const { return seconds_.size(); }
  bool has_partial(std::size_t i) const { return specs_[i].placements().has_partial(); }

  /// Counts the pairs for which a way round takes 5 % less seconds.
  int dearer_in_seconds(bool with_partial) const {
    return count(with_partial, [&](std::size_t a, std::size_t via, std::size_t b) {
      return seconds(a, via) + seconds(via, b) < 0.95 * seconds(a, b) - 1e-9;
    });
  }
  /// Counts the pairs for which a way round moves fewer bytes, and takes no more seconds.
  int dearer_in_bytes(bool with_partial) const {
    return count(with_partial, [&](std::size_t a, std::size_t via, std::size_t b) {
      return bytes_[a * size() + via] + bytes_[via * size() + b] < bytes_[a * size() + b] &&
             seconds(a, via) + seconds(via, b) <= seconds(a, b);
    });
  }

 private:
  std::size_t size() const { return specs_.size(); }
  double seconds(std::size_t a, std::size_t b) const { return seconds_[a * size() + b]; }

  template <class IsCheaper>
  int count(bool with_partial, const IsCheaper& is_cheaper) const {
    int result = 0;
    for (std::size_t a = 0; a < size(); ++a)
      for (std::size_t b = 0; b < size(); ++b) {
        if (!with_partial && (has_partial(a) || has_partial(b))) continue;
        for (std::size_t via = 0; via < size(); ++via)
          if (is_cheaper(a, via, b)) {
            ++result;
            break;
          }
      }
    return result;
  }

  std::vector<DTensorSpec> specs_;
  std::vector<double> seconds_;
  std::vector<double> bytes_;
};

struct Case {
  std::vector<int> mesh;
  Extents shape;
  double largest_part;  ///< of pairs that may be dearer
};

// What remains: a Partial that stays Partial (reducing it, too, would move less, but it is the
// user's), sums that two reductions one after another would make of fewer bytes, and small tensors
// of which slices of replicas would travel in one message less, which is 1 µs.
const std::vector<Case> cases{{{2, 3}, {16, 8}, 0.02},      {{2, 3}, {13, 2, 13}, 0.02},
                              {{2, 3}, {160, 80}, 0.03},    {{2, 3}, {4000, 4000}, 0.03},
                              {{2, 2, 2}, {16, 8}, 0.07},   {{2, 2, 2}, {13, 2, 13}, 0.07},
                              {{2, 2, 2}, {160, 80}, 0.06}, {{2, 2, 2}, {4000, 4000}, 0.04}};

TEST(Ways, round_are_seldom_cheaper_than_a_plan) {
  for (const auto& [mesh, shape, largest_part] : cases) {
    const AllPairs all(mesh, shape);
    const auto limit = largest_part * static_cast<double>(all.pairs());
    EXPECT_LE(all.dearer_in_seconds(true), limit) << to_string(shape);
    EXPECT_LE(all.dearer_in_bytes(true), limit) << to_string(shape);
  }
}

TEST(Ways, round_never_move_fewer_bytes_without_sums) {
  for (const auto& [mesh, shape, largest_part] : cases) {
    const AllPairs all(mesh, shape);
    EXPECT_EQ(all.dearer_in_bytes(false), 0) << to_string(shape);
    if (shape[0] > 1000) {
      EXPECT_EQ(all.dearer_in_seconds(false), 0) << to_string(shape);
    }
  }
}

double seconds(const Placements& from, const Placements& to, const Extents& shape) {
  const MeshLayout layout({2, 2, 2});
  const auto plan = make_plan(DTensorSpec(layout, from, shape), DTensorSpec(layout, to, shape),
                              element_type<double>());
  return plan.exchanges() > 0 ? plan.cost().seconds : 0;
}

TEST(Ways, replicas_are_sliced_before_sums_are_reduced) {
  const Placement sum = Partial();
  const Extents large{4000, 4000};

  EXPECT_LE(seconds({Replicate(), sum, sum}, {Shard(1), Replicate(), Replicate()}, large), 0.033);
  EXPECT_LE(
      seconds({Replicate(), Replicate(), Shard(0)}, {Shard(1), Shard(1), Shard(1)}, {160, 80}),
      9.3e-6);
}

TEST(Ways, a_sum_of_what_each_rank_holds_moves_nothing) {
  EXPECT_EQ(seconds({Replicate(), Replicate(), Shard(0)}, {Replicate(), Shard(0), Partial()},
                    {4000, 4000}),
            0);
  EXPECT_EQ(seconds({Shard(0), Shard(1), Replicate()}, {Partial(), Shard(1), Partial()}, {40, 40}),
            0);
}

/// Returns the exchanges of a plan on the mesh (3, 1) for a matrix.
int exchanges_beside_one_rank(const Placements& from, const Placements& to) {
  const MeshLayout layout({3, 1});
  const Extents shape{12, 9};
  return make_plan(DTensorSpec(layout, from, shape), DTensorSpec(layout, to, shape),
                   element_type<double>())
      .exchanges();
}

TEST(Ways, a_mesh_dim_of_one_rank_costs_nothing) {
  EXPECT_EQ(exchanges_beside_one_rank({Partial(), Shard(1)}, {Replicate(), Shard(0)}), 1);
  EXPECT_EQ(exchanges_beside_one_rank({Partial(), Shard(0)}, {Shard(1), Shard(0)}), 1);
  EXPECT_EQ(exchanges_beside_one_rank({Shard(0), Shard(0)}, {Shard(1), Replicate()}), 1);
  EXPECT_EQ(exchanges_beside_one_rank({Partial(), Partial()}, {Replicate(), Replicate()}), 1);
  EXPECT_EQ(
      exchanges_beside_one_rank({Partial(ReduceOp::max), Shard(1)}, {Replicate(), Cyclic(0, 2)}),
      1);
  for (const auto& one : std::vector<Placement>{Shard(1), Replicate(), Partial(), HeadTail(0)})
    for (const auto& other : std::vector<Placement>{Shard(1), Replicate(), Partial(), HeadTail(0)})
      EXPECT_EQ(exchanges_beside_one_rank({Shard(1), one}, {Shard(1), other}), 0);
}

}  // namespace
