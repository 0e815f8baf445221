// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What a redistribution that was made before does on a device: kernels, fences, copies and
// allocations, as the tools of Kokkos see them.
#include <gmock/gmock.h>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/factories.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/kokkos_events.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

constexpr auto before_reading = "tessera::redistribute: before reading the source";
constexpr auto before_others = "tessera::redistribute: before others go on";

/// What one of two ranks does on a device.
struct Case {
  Placement from;
  Placement to;
  std::size_t kernels;
  std::vector<const char*> fences;  ///< without the one before the source is read
};

/// Of two ranks, each with one block for the other, the numbers do not depend on when they come.
const std::vector<Case> cases{
    {Shard(0), Shard(1), 3, {before_others, before_others}},
    {Shard(0), Replicate(), 3, {before_others, before_others}},
    {Partial(), Shard(0), 2, {before_others, before_others}},
    {Partial(), Replicate(), 2, {before_others, before_others}},
};

DTensor<Matrix> source_of(const DeviceMesh& mesh, const Placement& placement) {
  const auto rows = iota<Matrix>(mesh, {Shard(0)}, {4 * world_size(), 4});
  return placement.is_partial() ? from_local(rows.to_local(), mesh, {placement}) : rows;
}

/// Host memory needs no kernel and no fence of its own: small copies run on the calling thread.
constexpr bool is_on_device = memory_space<TestSpace> == MemorySpace::device;

/// Expects the kernels and fences of each case on a device, there between the fences `before` and
/// `after`; in host memory the fences `on_host` alone. `exec`: an instance to call with, or none.
template <class... Instance>
void expect_counts(const std::vector<std::string>& on_host, const std::vector<std::string>& before,
                   const std::vector<std::string>& after, const Instance&... exec) {
  const auto mesh = mesh_of({2});
  for (const auto& [from, to, kernels, fences] : cases) {
    const auto source = source_of(mesh, from);
    const auto target = empty<Matrix>(mesh, {to}, source.shape());
    for (int i = 0; i < 2; ++i) redistribute_into(exec..., target, source);
    (exec.fence(), ...);
    const RecordedEvents seen;
    redistribute_into(exec..., target, source);

    const auto name = to_string(from) + " to " + to_string(to);
    auto expected = is_on_device ? before : on_host;
    if (is_on_device) {
      expected.insert(expected.end(), fences.begin(), fences.end());
      expected.insert(expected.end(), after.begin(), after.end());
    }
    EXPECT_EQ(seen->kernels.size(), is_on_device ? kernels : 0) << name;
    EXPECT_THAT(seen->fences, testing::ElementsAreArray(expected)) << name;
    EXPECT_THAT(seen->copies, testing::IsEmpty()) << name;
    EXPECT_THAT(seen->allocations, testing::IsEmpty()) << name;
  }
}

TEST(Counts, of_a_redistribution_that_was_made_before) {
  if (world_size() != 2) GTEST_SKIP() << "needs 2 ranks";
  expect_counts({before_reading}, {before_reading}, {"tessera::redistribute"});
}

/// Ordered on the instance: the caller fences where the result is needed.
TEST(Counts, of_a_redistribution_on_an_instance) {
  if (world_size() != 2) GTEST_SKIP() << "needs 2 ranks";
  expect_counts({before_reading}, {}, {}, Kokkos::DefaultExecutionSpace());
}

TEST(Counts, of_one_rank_that_copies_what_is_its_own) {
  if (world_size() != 1) GTEST_SKIP() << "needs 1 rank";
  const auto mesh = mesh_of({1});
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {4, 4});
  const auto target = empty<Matrix>(mesh, {Shard(1)}, source.shape());
  redistribute_into(target, source);
  const RecordedEvents seen;
  redistribute_into(target, source);

  EXPECT_EQ(seen->kernels.size(), is_on_device ? 1 : 0);
  EXPECT_EQ(seen->fences.size(), is_on_device ? 2 : 1);
  EXPECT_THAT(seen->copies, testing::IsEmpty());
  EXPECT_THAT(seen->allocations, testing::IsEmpty());
}

}  // namespace
}  // namespace tessera::test
