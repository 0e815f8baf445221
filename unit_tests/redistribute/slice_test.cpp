// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Slices and permutations: parts and other orders of a tensor that share its memory.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
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

using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
using LeftCube = Kokkos::View<double***, Kokkos::LayoutLeft, TestSpace>;

/// Returns an element's value in a slice of iota that begins at `offset` of a tensor of `shape`.
auto shifted_iota(const Extents& shape, const Extents& offset) {
  return [iota = GlobalIndex(shape), offset](Extents index) {
    for (std::size_t d = 0; d < index.size(); ++d) index[d] += offset[d];
    return iota(index);
  };
}

const std::vector<Placement> rules{Shard(0),     Shard(1),     Balanced(0),  Balanced(1),
                                   Cyclic(0, 1), Cyclic(0, 3), Cyclic(1, 2), HeadTail(0),
                                   HeadTail(1),  Replicate()};
const std::vector<Placements> grid_rules{{Cyclic(0, 2), Cyclic(1, 3)},
                                         {Shard(0), Shard(0)},
                                         {Balanced(0), Shard(0)},
                                         {HeadTail(1), Balanced(0)},
                                         {Replicate(), Shard(1)}};

struct Case {
  DeviceMesh mesh;
  Placements placements;
};

std::vector<Case> all_cases() {
  std::vector<Case> result;
  const auto line = mesh_of({world_size()});
  for (const auto& rule : rules) result.push_back({line, {rule}});
  if (world_size() % 2 == 0)
    for (const auto& placements : grid_rules)
      result.push_back({mesh_of({2, world_size() / 2}), placements});
  return result;
}

template <class V>
void expect_slices() {
  const Extents shape{17, 11};
  const std::vector<Range> rows{{0, 17}, {3, 12}, {5, 6}, {4, 4}, {-4, 17}};
  const std::vector<Range> columns{{0, 11}, {2, 9}, {-1, 11}};
  for (const auto& [mesh, placements] : all_cases()) {
    const auto x = iota<V>(mesh, placements, shape);
    for (const auto& i : rows)
      for (const auto& j : columns) {
        const Extents offset{i.begin < 0 ? i.begin + 17 : i.begin,
                             j.begin < 0 ? j.begin + 11 : j.begin};
        const auto expected = shifted_iota(shape, offset);
        const Traffic traffic;
        const auto part = slice(x, i, j);
        EXPECT_EQ(traffic.exchanges(), 0);
        EXPECT_EQ(wrong_piece(part, expected), "") << to_string(x.spec()) << to_string(part.spec());
        const auto again = slice(part, tessera::all, {0, j.end - offset[1]});
        EXPECT_EQ(again.spec(), part.spec());
        EXPECT_EQ(wrong_piece(redistribute(part, all_replicate), expected), "")
            << to_string(part.spec());
        EXPECT_EQ(
            wrong_piece(redistribute(part, std::vector<Placement>(placements.size(), Shard(1))),
                        expected),
            "")
            << to_string(part.spec());
      }
  }
}

TEST(Slice, keeps_ownership_under_all_rules) {
  expect_slices<Matrix>();
  expect_slices<LeftMatrix>();
}

TEST(Slice, of_a_slice_is_the_slice_of_the_whole) {
  for (const auto& [mesh, placements] : all_cases()) {
    const auto x = iota<Matrix>(mesh, placements, {17, 11});
    const auto once = slice(x, {5, 14}, {3, 10});
    const auto twice = slice(slice(x, {2, 15}, {1, 11}), {3, 12}, {2, 9});
    EXPECT_EQ(once.spec(), twice.spec())
        << to_string(once.spec()) << ' ' << to_string(twice.spec());
    if (once.to_local().size() > 0) {
      EXPECT_EQ(once.to_local().data(), twice.to_local().data());
    }
  }
}

TEST(Slice, an_index_drops_a_dim_that_is_not_sharded) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Cube>(mesh, Shard(1), {4, 7, 5});
  const auto y = slice(x, 2, Kokkos::ALL, -1);
  static_assert(decltype(y)::rank == 1);
  EXPECT_EQ(y.placements(), Placements{Shard(0)});
  EXPECT_EQ(
      wrong_piece(y, [](const Extents& i) { return static_cast<double>(2 * 35 + i[0] * 5 + 4); }),
      "");
  EXPECT_EQ(invalid_argument_of([&] { slice(x, tessera::all, 3, tessera::all); }),
            "slice: expected a range for tensor dim 1, which is sharded, got index 3: take {3, 4}, "
            "which keeps the dim, or fetch()");
  EXPECT_EQ(invalid_argument_of([&] {
              slice(x, tessera::all, {3, 9}, tessera::all);
            }),
            "slice: expected a range of tensor dim 1 within 0 to 7, got 3 to 9");
  EXPECT_EQ(invalid_argument_of([&] { slice(x, 4, tessera::all, tessera::all); }),
            "slice: expected an index of tensor dim 0 from -4 to 3, got 4");
  EXPECT_EQ(invalid_argument_of([&] { slice(x, tessera::all, tessera::all); }),
            "slice: expected an argument for each of 3 dims, got 2");
}

TEST(Slice, box_to_box) {
  for (const auto& [mesh, from] : all_cases())
    for (const auto& [other, to] : all_cases()) {
      if (!(mesh == other)) continue;
      const auto x = iota<Matrix>(mesh, from, {17, 11});
      const auto y = zeros<LeftMatrix>(mesh, to, {15, 14});
      redistribute_into(slice(y, {1, 9}, {4, 12}), slice(x, {6, 14}, {2, 10}));
      const GlobalIndex iota({17, 11});
      EXPECT_EQ(wrong_piece(y,
                            [&](const Extents& i) {
                              const bool is_in = 1 <= i[0] && i[0] < 9 && 4 <= i[1] && i[1] < 12;
                              return is_in ? iota(Extents{i[0] + 5, i[1] - 2}) : 0.0;
                            }),
                "")
          << to_string(x.spec()) << " to " << to_string(y.spec());
    }
}

/// Returns whether another rank sends something to this one in some step.
bool receives(const RedistributePlan& plan, int rank) {
  for (const auto& step : plan.steps(rank))
    for (const auto& phase : step.phases)
      for (const auto& block : phase.receive)
        if (block.peer != rank && block.size() > 0) return true;
  return false;
}

TEST(Slice, plans_count_an_exchange_wherever_something_travels) {
  for (const auto& [mesh, placements] : all_cases()) {
    const auto x = iota<Matrix>(mesh, placements, {17, 11});
    const auto from = slice(x, {6, 14}, {2, 10}).spec();
    for (const auto& [rows, columns] : {std::pair(1, 3), std::pair(6, 2), std::pair(9, 0)}) {
      const auto to = slice(x, {rows, rows + 8}, {columns, columns + 8}).spec();
      const auto plan = make_plan(from, to, element_type<double>());
      bool travels = false;
      for (int rank = 0; rank < mesh.size(); ++rank) travels = travels || receives(plan, rank);
      EXPECT_EQ(plan.exchanges() > 0, travels) << to_string(from) << " to " << to_string(to);
    }
  }
}

TEST(Slice, of_sums_and_in_the_background) {
  const auto mesh = mesh_of({world_size()});
  const auto x = from_local(iota_view<Matrix>({6, 8}), mesh, Partial());
  const auto part = slice(x, {1, 5}, {2, 7});
  const auto once = shifted_iota({6, 8}, {1, 2});
  const auto expected = [&](const Extents& index) { return world_size() * once(index); };
  EXPECT_EQ(wrong_piece(redistribute(part, Cyclic(0, 1)), expected), "");
  auto pending = redistribute_async(slice(x, {1, 5}, {2, 7}), Shard(1));
  EXPECT_EQ(wrong_piece(pending.wait(), expected), "");
}

TEST(Slice, to_another_mesh) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto other = kept_mesh("other", [] {
    return DeviceMesh::from_ranks(MPI_COMM_WORLD, {world_size() - 1, 0}, {2});
  });
  for (const auto& [mesh, placements] : all_cases()) {
    const auto x = iota<Matrix>(mesh, placements, {17, 11});
    const auto y = redistribute(slice(x, {3, 12}, {2, 9}), other, Shard(0));
    EXPECT_EQ(wrong_piece(y, shifted_iota({17, 11}, {3, 2})), "") << to_string(x.spec());
  }
}

template <class V>
void expect_transposed() {
  for (const auto& [mesh, placements] : all_cases()) {
    const auto x = iota<V>(mesh, placements, {12, 7});
    const auto expected = [&](const Extents& i) { return static_cast<double>(7 * i[1] + i[0]); };
    const Traffic traffic;
    const auto y = transpose(x);
    EXPECT_EQ(traffic.exchanges(), 0);
    EXPECT_EQ(wrong_piece(y, expected), "") << to_string(y.spec());
    EXPECT_EQ(transpose(y).spec(), x.spec());
    for (const auto& to : rules) {
      if (mesh.ndim() > 1) break;
      EXPECT_EQ(wrong_piece(redistribute(y, to), expected), "") << to_string(y.spec());
      EXPECT_EQ(wrong_piece(redistribute_async(transpose(x), to).wait(), expected), "");
    }
    EXPECT_EQ(wrong_piece(clone(y), expected), "") << to_string(y.spec());
  }
}

TEST(Permute, transposes_under_all_rules) {
  expect_transposed<Matrix>();
  expect_transposed<LeftMatrix>();
}

TEST(Permute, w9_the_transpose_by_rows_is_one_exchange) {
  const auto mesh = mesh_of({4});
  if (mesh.is_null() || !is_on(mesh)) GTEST_SKIP() << "needs 4 ranks";
  const auto x = iota<Matrix>(mesh, Shard(0), {12, 3});
  const Traffic traffic;
  const auto y = redistribute(transpose(x), Shard(0));
  EXPECT_EQ(traffic.exchanges(), 1);
  EXPECT_EQ(y.placements(), Placements{Shard(0)});
  EXPECT_EQ(wrong_piece(y, [](const Extents& i) { return static_cast<double>(3 * i[1] + i[0]); }),
            "");
}

template <class V>
void expect_orders() {
  const auto mesh = mesh_of({world_size()});
  const Extents shape{4, 5, 6};
  const GlobalIndex iota_of(shape);
  for (const auto& rule : {Placement(Shard(1)), Placement(Cyclic(2, 2)), Placement(Replicate())})
    for (const auto& order :
         std::vector<std::vector<int>>{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {-1, 1, 0}}) {
      const auto x = iota<V>(mesh, rule, shape);
      const auto y = permute(x, order);
      const auto expected = [&](const Extents& index) {
        Extents old = index;
        for (std::size_t d = 0; d < 3; ++d)
          old[static_cast<std::size_t>((order[d] + 3) % 3)] = index[d];
        return iota_of(old);
      };
      EXPECT_EQ(wrong_piece(y, expected), "");
      EXPECT_EQ(wrong_piece(redistribute<V>(y, Shard(0)), expected), "");
      EXPECT_EQ(wrong_piece(slice(y, tessera::all, {1, 4}, tessera::all),
                            [&](Extents i) {
                              ++i[1];
                              return expected(i);
                            }),
                "");
    }
}

TEST(Permute, of_three_dims) {
  expect_orders<Cube>();
  expect_orders<LeftCube>();
  const auto x = iota<Cube>(mesh_of({world_size()}), Shard(0), {2, 3, 4});
  EXPECT_EQ(invalid_argument_of([&] {
              permute(x, {0, 0, 1});
            }),
            "permute: expected each dim of a 3-d tensor once, got [0, 0, 1]");
  EXPECT_EQ(invalid_argument_of([&] {
              permute(x, {0, 1});
            }),
            "permute: expected each dim of a 3-d tensor once, got [0, 1]");
}

TEST(Permute, the_result_keeps_the_memory) {
  const auto mesh = mesh_of({world_size()});
  const auto kept = [&] {
    const auto x = iota<Matrix>(mesh, Shard(0), {12, 7});
    return slice(transpose(x), {1, 6}, tessera::all);
  }();
  const auto other = iota<Matrix>(mesh, Shard(0), {12, 7});
  EXPECT_EQ(
      wrong_piece(kept, [](const Extents& i) { return static_cast<double>(7 * i[1] + i[0] + 1); }),
      "");
}

}  // namespace
