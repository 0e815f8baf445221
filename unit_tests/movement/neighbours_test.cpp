// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Neighbours in a mesh, Views that go to them, numbers that are reduced, and a broadcast in place.
#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "../support/errors.hpp"
#include "../support/kokkos_events.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"
#include "cases.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

TEST(Neighbour, is_the_rank_at_a_distance_along_one_mesh_dim) {
  if (world_size() < 6) GTEST_SKIP() << "needs 6 ranks";
  const auto mesh = mesh_of({2, 3}, {"y", "x"});
  if (!is_on(mesh)) {
    EXPECT_EQ(mesh.neighbour("x", 1), std::nullopt);
    return;
  }
  const auto at = *mesh.coordinate();
  EXPECT_EQ(mesh.neighbour("x", 1), at[1] == 2 ? std::nullopt : std::optional(mesh.rank() + 1));
  EXPECT_EQ(mesh.neighbour("x", 1, true), 3 * at[0] + (at[1] + 1) % 3);
  EXPECT_EQ(mesh.neighbour("x", -4, true), 3 * at[0] + (at[1] + 2) % 3);
  EXPECT_EQ(mesh.neighbour("y", -1), at[0] == 0 ? std::nullopt : std::optional(mesh.rank() - 3));
  EXPECT_EQ(mesh.neighbour(0, 0), mesh.rank());
  EXPECT_EQ(message_of<InvalidArgument>([&] { mesh.neighbour("z", 1); }).substr(0, 5), "mesh:");
}

/// A View of as many rows as the rank's number says, which tells the rank.
Matrix rows_of(int rank) {
  Matrix view("rows", static_cast<std::size_t>(rank % 3 + 1), 4);
  Kokkos::deep_copy(view, 10.0 * rank);
  return view;
}

TEST(Shift, brings_the_view_of_the_rank_before) {
  const auto mesh = mesh_of({world_size()}, {"x"});
  for (const int distance : {1, -1, 2, 0})
    for (const bool periodic : {false, true}) {
      const Traffic traffic;
      const auto got = shift(rows_of(mesh.rank()), distance, mesh, "x", {.periodic = periodic});
      EXPECT_LE(traffic.exchanges(), 1);
      const auto from = mesh.neighbour("x", -distance, periodic);
      if (!from) {
        EXPECT_EQ(got.size(), 0U);
        continue;
      }
      const Extents shape{*from % 3 + 1, 4};
      EXPECT_EQ(wrong_view(got, shape, [&](const Extents&) { return 10.0 * *from; }), "")
          << distance << periodic;
    }
}

TEST(AllReduce, of_numbers) {
  const auto mesh = mesh_of({world_size()});
  const int n = world_size();
  const Traffic traffic;
  EXPECT_EQ(all_reduce(world_rank() + 1, ReduceOp::sum, mesh), n * (n + 1) / 2);
  EXPECT_EQ(traffic.exchanges(), n > 1 ? 1 : 0);
  EXPECT_EQ(all_reduce(0.5 * world_rank(), ReduceOp::max, mesh), 0.5 * (n - 1));
  EXPECT_EQ(all_reduce(std::complex<double>(1, world_rank()), ReduceOp::sum, mesh),
            std::complex<double>(n, n * (n - 1) / 2.0));
  const Traffic one;
  const auto several =
      all_reduce(std::array{1.0, 2.0 * world_rank(), -1.0}, ReduceOp::sum, mesh, 0);
  EXPECT_EQ(one.exchanges(), n > 1 ? 1 : 0);
  EXPECT_EQ(several, (std::array{1.0 * n, 1.0 * n * (n - 1), -1.0 * n}));
}

TEST(AllReduce, of_numbers_along_some_mesh_dims) {
  if (world_size() % 2 != 0) GTEST_SKIP() << "needs an even number of ranks";
  const auto mesh = mesh_of({2, world_size() / 2}, {"y", "x"});
  EXPECT_EQ(all_reduce(1, ReduceOp::sum, mesh), world_size());
  EXPECT_EQ(all_reduce(1, ReduceOp::sum, mesh, "y"), 2);
  EXPECT_EQ(all_reduce(1, ReduceOp::sum, mesh, MeshDims{"x"}), world_size() / 2);
}

TEST(BroadcastInto, fills_the_views_of_all_ranks) {
  const auto mesh = mesh_of({world_size()});
  const int root = world_size() - 1;
  const auto view = iota_view<Matrix>({4, 3});
  if (world_rank() != root) Kokkos::deep_copy(view, -1.0);
  broadcast_into(view, root, mesh, 0);
  EXPECT_EQ(wrong_view(view, {4, 3}, GlobalIndex({4, 3})), "");
  if (world_rank() != root) Kokkos::deep_copy(view, -1.0);
  const Traffic traffic;
  const RecordedEvents seen;
  broadcast_into(view, root, mesh, 0);
  EXPECT_EQ(traffic.metadata(), 0);
  EXPECT_TRUE(seen->allocations.empty());
  EXPECT_EQ(wrong_view(view, {4, 3}, GlobalIndex({4, 3})), "");
}

TEST(NoCopy, what_a_rank_holds_already_stays_where_it_is) {
  const auto alone = mesh_of({1});
  if (!is_on(alone)) return;
  const auto x = iota<Matrix>(alone, Shard(0), {4, 5});
  EXPECT_EQ(redistribute(x, Shard(1)).to_local().data(), x.to_local().data());
  EXPECT_EQ(redistribute(x).to_local().data(), x.to_local().data());
  const auto sum = from_local(x.to_local(), alone, Partial());
  EXPECT_EQ(reduce_partial(sum).to_local().data(), x.to_local().data());
  EXPECT_EQ(redistribute(sum, Cyclic(1, 2)).placements(), Placements{Cyclic(1, 2)});
}

TEST(NoCopy, along_mesh_dims_of_one_coordinate) {
  const auto grid = mesh_of({1, world_size()});
  const auto y = iota<Matrix>(grid, {Shard(0), Shard(1)}, {4, 6});
  const Traffic traffic;
  EXPECT_EQ(redistribute(y, {Replicate(), Shard(1)}).to_local().data(), y.to_local().data());
  EXPECT_EQ(traffic.exchanges(), 0);
}

}  // namespace
