// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Redistributions from one mesh to another, and redistributions in the background.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/generator.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

std::vector<int> world_ranks() {
  std::vector<int> ranks(static_cast<std::size_t>(world_size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// One mesh dim of these ranks.
DeviceMesh line_of(std::vector<int> ranks) {
  const auto size = static_cast<int>(ranks.size());
  return DeviceMesh::from_ranks(MPI_COMM_WORLD, std::move(ranks), {size});
}

/// A mesh of some ranks in any order, of one or two dims. The same on every rank.
DeviceMesh random_mesh(Generator& generator) {
  auto ranks = world_ranks();
  std::ranges::shuffle(ranks, generator);
  ranks.resize(static_cast<std::size_t>(draw(generator, 1, world_size())));
  const auto size = static_cast<int>(ranks.size());
  std::vector<int> shape = {size};
  if (size % 2 == 0 && draw(generator, 0, 1) == 0) shape = {2, size / 2};
  return DeviceMesh::from_ranks(MPI_COMM_WORLD, ranks, shape);
}

Placements random_placements(Generator& generator, const DeviceMesh& mesh) {
  std::vector<Placement> placements;
  for (int d = 0; d < mesh.ndim(); ++d) {
    const int kind = draw(generator, 0, 2);
    placements.push_back(kind == 2 ? Placement(Replicate()) : Placement(Shard(kind)));
  }
  return placements;
}

bool is_off(const DTensor<Matrix>& tensor) {
  return tensor.to_local().size() == 0;
}

/// Whether a tensor on `mesh` holds global indices here, and nothing off the mesh.
bool is_right(const DTensor<Matrix>& tensor, const DeviceMesh& mesh) {
  if (!(tensor.device_mesh() == mesh)) return false;
  return is_on(mesh) ? is_iota(tensor) : is_off(tensor);
}

TEST(Across, random_meshes_and_placements_give_the_global_values) {
  Generator generator(7);
  for (int number = 0; number < 60; ++number) {
    const auto from = random_mesh(generator);
    const auto to = random_mesh(generator);
    const Extents shape = {draw(generator, 1, 13), draw(generator, 1, 11)};
    const auto source = iota<Matrix>(from, random_placements(generator, from), shape);
    const auto target = random_placements(generator, to);

    const auto once = redistribute(source, to, target);
    const auto again = redistribute_async(source, to, target).wait();

    EXPECT_TRUE(is_right(once, to)) << "case " << number << ", rank " << world_rank();
    EXPECT_TRUE(is_right(again, to)) << "case " << number << ", rank " << world_rank();
    EXPECT_EQ(once.shape(), shape);
    EXPECT_EQ(once.placements(), detail::resolved(target, 2));
  }
}

TEST(Across, another_grid_of_the_same_ranks_takes_one_exchange) {
  const int n = world_size();
  if (n % 2 != 0) GTEST_SKIP() << "needs an even number of ranks";
  const auto from = mesh_of({n / 2, 2});
  const auto to = DeviceMesh::from_ranks(MPI_COMM_WORLD, world_ranks(), {2, n / 2});
  const auto source = iota<Matrix>(from, {Shard(0), Shard(1)}, {16, 24});
  redistribute(source, to, {Shard(0), Replicate()});

  const Traffic traffic;
  const auto result = redistribute(source, to, {Shard(0), Replicate()});

  EXPECT_TRUE(is_right(result, to));
  EXPECT_EQ(traffic.exchanges(), 1);
  EXPECT_EQ(traffic.agreements(), 0);
}

TEST(Across, the_same_mesh_with_other_names_is_that_of_the_result) {
  const auto plain = mesh_of({world_size()});
  const auto named = mesh_of({world_size()}, {"x"});
  const auto source = iota<Matrix>(plain, {Shard(0)}, {5, 4});

  for (const auto& target : {Placements{Shard(1)}, Placements{Shard(0)}}) {
    const auto result = redistribute(source, named, target);
    const auto later = redistribute_async(source, named, target).wait();

    EXPECT_EQ(result.device_mesh().dim_names(), named.dim_names());
    EXPECT_EQ(later.device_mesh().dim_names(), named.dim_names());
    EXPECT_TRUE(is_iota(result));
    EXPECT_TRUE(is_iota(later));
  }
}

TEST(Across, disjoint_meshes_pass_a_tensor_whose_shape_only_one_knows) {
  if (world_size() < 4) GTEST_SKIP() << "needs 4 ranks";
  const auto from = line_of({0, 1});
  const auto to = line_of({2, 3});
  const Matrix mine("mine", world_rank() == 0 ? 3 : 2, 5);
  fill_iota(mine, {world_rank() == 0 ? 0 : 3, 0}, {5, 5});
  const auto source = from_local(mine, from, {Shard(0)});

  const auto result = redistribute(source, to, {Shard(1)});
  const auto uneven =
      redistribute(source, to, DTensorSpec(to.layout(), {Shard(0)}, {5, 5}, {{0, 1, 5}, {}}));

  EXPECT_TRUE(is_right(result, to));
  EXPECT_TRUE(is_right(uneven, to));
  if (is_on(to)) {
    EXPECT_EQ(result.shape(), (Extents{5, 5}));
    EXPECT_EQ(uneven.local_shape()[0], world_rank() == 2 ? 1 : 4);
  }
}

TEST(Across, a_subset_of_ranks_gathers_and_a_superset_shares_out) {
  const auto all = mesh_of({world_size()});
  const auto last = line_of({world_size() - 1});
  const auto source = iota<Matrix>(all, {Shard(0)}, {9, 4});

  const auto gathered = redistribute(source, last, {Replicate()});
  const auto back = redistribute(gathered, all, {Shard(1)});

  EXPECT_TRUE(is_right(gathered, last));
  EXPECT_TRUE(is_right(back, all));
}

TEST(Across, partial_sums_arrive_reduced_and_partial_targets_hold_one_value) {
  const auto all = mesh_of({world_size()});
  std::vector<int> ranks = world_ranks();
  std::ranges::reverse(ranks);
  const auto reversed = line_of(ranks);
  const auto one = ones<Matrix>(all, {Replicate()}, {7, 3});
  const auto partial = from_local(one.to_local(), all, {Partial()});

  const auto sum = redistribute(partial, reversed, {Shard(0)});
  const auto parts = redistribute(sum, all, {Partial()});
  const auto full = redistribute(parts, {Replicate()});

  for (const auto& tensor : {redistribute(sum, {Replicate()}), full}) {
    const auto local = on_host(tensor.to_local());
    for (std::size_t i = 0; i < local.extent(0); ++i) EXPECT_EQ(local(i, 1), world_size());
  }
}

TEST(Across, static_extents_are_those_of_the_pieces) {
  using Square = Kokkos::View<double[4][4], Kokkos::LayoutRight, TestSpace>;
  const auto all = mesh_of({world_size()});
  const auto last = line_of({world_size() - 1});
  const auto source = iota<Square>(last, {Replicate()}, {4, 4});

  const auto everywhere = redistribute(source, all, {Replicate()});
  const auto plan = make_plan_across(source.spec(), everywhere.spec(), element_type<double>());
  plan.bind(last, all).execute(source.to_local(), everywhere.to_local());

  EXPECT_EQ(on_host(everywhere.to_local())(3, 2), 14.0);
}

TEST(Across, options_that_differ_between_ranks_are_reported) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto all = mesh_of({world_size()});
  const auto first = line_of({0});
  const auto source = iota<Matrix>(all, {Shard(0)}, {6, 6});
  const RedistributeOptions mine{.extra_memory = world_rank() == 0 ? 100 : 200};

  EXPECT_THROW(redistribute(source, first, {Replicate()}, mine), InvalidArgument);
  EXPECT_TRUE(is_right(redistribute(source, first, {Replicate()}), first));
}

TEST(Across, a_scalar_reaches_ranks_that_have_none) {
  using Scalar = Kokkos::View<double, TestSpace>;
  const auto first = line_of({0});
  const auto all = mesh_of({world_size()});
  const auto source = full<Scalar>(first, {Replicate()}, {}, 42.0);

  const auto everywhere = redistribute(source, all, {Replicate()});
  const auto partial = redistribute(everywhere, first, {Partial()});

  EXPECT_EQ(on_host(everywhere.to_local())(), 42.0);
  if (is_on(first)) {
    EXPECT_EQ(on_host(partial.to_local())(), 42.0);
  }
}

TEST(Across, off_both_meshes_nothing_is_waited_for) {
  if (world_size() < 3) GTEST_SKIP() << "needs 3 ranks";
  const auto from = line_of({0});
  const auto to = line_of({1});
  const auto source = iota<Matrix>(from, {Replicate()}, {4, 4});
  if (world_rank() == 2) {
    EXPECT_TRUE(is_off(redistribute(source, to, {Shard(0)})));
    return;
  }
  EXPECT_TRUE(is_right(redistribute(source, to, {Shard(0)}), to));
}

TEST(Across, on_the_same_mesh_it_is_redistribute) {
  const auto mesh = mesh_of({world_size()});
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {8, 5});

  const Traffic traffic;
  const auto same = redistribute(source, mesh, {Shard(0)});

  EXPECT_EQ(same.to_local().data(), source.to_local().data());
  EXPECT_EQ(traffic.exchanges(), 0);
}

TEST(Across, mistakes_are_reported_to_all_ranks_and_the_next_call_works) {
  const auto all = mesh_of({world_size()});
  const auto first = line_of({0});
  const auto source = iota<Matrix>(all, {Shard(0)}, {6, 6});

  EXPECT_THAT(message_of<InvalidArgument>([&] { redistribute(source, first, {Shard(2)}); }),
              testing::HasSubstr("2"));
  EXPECT_THAT(message_of<MeshMismatch>([&] { redistribute(source, first, source.spec()); }),
              world_size() == 1 ? testing::HasSubstr("no error") : testing::HasSubstr("mesh"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                redistribute(source, first, DTensorSpec(first.layout(), {Shard(0)}, {6, 7}));
              }),
              testing::HasSubstr("(6, 7)"));
  EXPECT_THAT(
      message_of<InvalidArgument>([&] { redistribute(DTensor<Matrix>(), first, {Shard(0)}); }),
      testing::HasSubstr("null handle"));
  // A call that is new to the ranks: in others, one that needs nothing may be complete.
  if (world_size() > 1) {
    const auto other =
        iota<Matrix>(all, {world_rank() == 0 ? Placement(Shard(1)) : Placement(Shard(0))}, {5, 8});
    EXPECT_THAT(message_of<InvalidArgument>([&] { redistribute(other, first, {Replicate()}); }),
                testing::HasSubstr("redistribute"));
  }

  EXPECT_TRUE(is_right(redistribute(source, first, {Replicate()}), first));
}

TEST(Async, every_transition_gives_what_the_blocking_call_gives) {
  const auto mesh = mesh_of({world_size()});
  const std::vector<Placement> all = {Shard(0), Shard(1), Replicate(), Partial(),
                                      Partial(ReduceOp::max)};
  for (const auto& from : all)
    for (const auto& to : all) {
      const auto source =
          iota<Matrix>(mesh, {from.is_partial() ? Placement(Replicate()) : from}, {9, 7});
      const auto tensor = from_local(source.to_local(), mesh, {from}, {9, 7});
      auto pending = redistribute_async(tensor, {to});
      const auto expected = redistribute(tensor, {to});

      const auto result = pending.wait();

      EXPECT_TRUE(pending.test());
      EXPECT_EQ(result.spec(), expected.spec());
      const auto a = on_host(result.to_local());
      const auto b = on_host(expected.to_local());
      ASSERT_EQ(a.extent(0), b.extent(0));
      for (std::size_t i = 0; i < a.extent(0); ++i)
        for (std::size_t j = 0; j < a.extent(1); ++j) EXPECT_EQ(a(i, j), b(i, j));
    }
}

TEST(Async, several_are_pending_at_once_and_end_in_any_order) {
  const auto mesh = mesh_of({world_size()});
  const auto rows = iota<Matrix>(mesh, {Shard(0)}, {40, 30});
  const auto columns = iota<Matrix>(mesh, {Shard(1)}, {40, 30});

  std::vector<Pending<DTensor<Matrix>>> pending;
  for (int i = 0; i < 3; ++i) {
    pending.push_back(redistribute_async(rows, {Shard(1)}));
    pending.push_back(redistribute_async(columns, {Replicate()}));
    pending.push_back(redistribute_async(rows, {Shard(0)}));
  }
  std::vector<DTensor<Matrix>> results;
  for (auto call = pending.rbegin(); call != pending.rend(); ++call)
    results.push_back(call->wait());

  for (const auto& result : results) EXPECT_TRUE(is_iota(result));
}

TEST(Async, source_may_go_and_a_result_nobody_wants_is_waited_for) {
  const auto mesh = mesh_of({world_size()});
  {
    auto rows = iota<Matrix>(mesh, {Shard(0)}, {300, 200});
    const auto unwanted = redistribute_async(rows, {Replicate()});
    auto wanted = redistribute_async(rows, {Shard(1)});
    rows = {};
    EXPECT_TRUE(is_iota(wanted.wait()));
  }
  EXPECT_TRUE(is_iota(redistribute(iota<Matrix>(mesh, {Shard(0)}, {5, 4}), {Shard(1)})));
}

TEST(Async, mistakes_are_thrown_where_it_starts) {
  const auto mesh = mesh_of({world_size()});
  const auto rows = iota<Matrix>(mesh, {Shard(0)}, {5, 4});

  EXPECT_THROW(redistribute_async(rows, {Shard(3)}), InvalidArgument);
  EXPECT_TRUE(is_iota(redistribute_async(rows, {Shard(1)}).wait()));
}

}  // namespace
}  // namespace tessera::test
