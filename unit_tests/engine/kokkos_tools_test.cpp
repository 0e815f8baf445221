// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What the tools of Kokkos see: labels, allocations, fences and regions of a redistribution.
#include <gmock/gmock.h>

#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/kokkos_events.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

auto each_is_ours() {
  return testing::Each(testing::StartsWith("tessera::"));
}

TEST(KokkosTools, see_labels_of_the_library_only) {
  const auto mesh = mesh_of({world_size()});
  const RecordedEvents seen;
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {40 * world_size(), 96});
  redistribute(redistribute(source, {Shard(1)}), {Replicate()});
  redistribute(from_local(source.to_local(), mesh, {Partial()}), {Shard(0)});
  full_tensor(clone(source));
  full<Matrix>(mesh, {Replicate()}, {64, 96}, 2.0);
  zeros<Matrix>(mesh, {Replicate()}, {64, 96});

  EXPECT_THAT(seen->kernels, each_is_ours());
  EXPECT_THAT(seen->allocations, each_is_ours());
  EXPECT_THAT(seen->fences, each_is_ours());
  EXPECT_THAT(seen->regions, each_is_ours());
  EXPECT_FALSE(seen->kernels.empty());
  EXPECT_FALSE(seen->allocations.empty());
}

/// In host memory: a device is also fenced before other ranks go on.
TEST(KokkosTools, see_one_fence_and_no_allocation_in_the_second_execution) {
  const auto mesh = mesh_of({world_size()});
  const auto source = iota<HostMatrix>(mesh, {Shard(0)}, {40 * world_size(), 96});
  const auto target = empty<HostMatrix>(mesh, {Shard(1)}, source.shape());
  redistribute_into(target, source);
  const RecordedEvents seen;
  redistribute_into(target, source);

  EXPECT_THAT(seen->copies, testing::IsEmpty());
  EXPECT_THAT(seen->allocations, testing::IsEmpty());
  EXPECT_THAT(seen->fences,
              testing::ElementsAre("tessera::redistribute: before reading the source"));
  EXPECT_THAT(seen->regions, testing::ElementsAre("tessera::redistribute"));
}

}  // namespace
}  // namespace tessera::test
