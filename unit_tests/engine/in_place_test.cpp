// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

TEST(DonatedSource, all_reduce_goes_into_the_memory_of_the_source) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({n});
  for (const Extents& shape : {Extents{301, 207}, Extents{2000, 131}}) {
    const auto part = iota<Matrix>(mesh, {Replicate()}, shape);
    const auto source = from_local(part.to_local(), mesh, {Partial()}, shape);

    const auto result = redistribute(source, {Replicate()}, {.donate_source = true});

    EXPECT_EQ(result.to_local().data(), source.to_local().data());
    EXPECT_TRUE(is_iota(result, n));
  }
}

/// Each node fetches what its ranks need alike, and passes it round.
TEST(DonatedSource, all_reduce_on_several_nodes_goes_into_it_too) {
  const int n = world_size();
  if (n != 4) GTEST_SKIP() << "needs 4 ranks";
  const auto mesh = mesh_of({n});
  const Extents shape{300, 207};
  const auto part = iota<Matrix>(mesh, {Replicate()}, shape);
  const auto source = from_local(part.to_local(), mesh, {Partial()}, shape);
  PlanOptions options{.ranks_per_node = {2}};
  options.cost_model.seconds_per_node_byte = 1;
  const auto plan =
      make_plan<Matrix>(source.spec(), with_placements(source.spec(), {Replicate()}), options);
  ASSERT_EQ(plan.exchanges(), 3);
  const auto redistributor = plan.bind(mesh);
  ASSERT_TRUE(
      detail::RedistributorAccess::can_replace(redistributor, array_ref(source.to_local())));

  redistributor.execute(source.to_local(), source.to_local());

  EXPECT_TRUE(is_iota(from_local(source.to_local(), mesh, {Replicate()}, shape), n));
}

TEST(DonatedSource, other_transitions_take_memory_of_their_own) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({n});
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {4 * n, 4 * n});

  const auto result = redistribute(source, {Shard(1)}, {.donate_source = true});

  EXPECT_NE(result.to_local().data(), source.to_local().data());
}

}  // namespace
}  // namespace tessera::test
