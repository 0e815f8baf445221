// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include <tessera/comm/progress.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

TEST(Progress, of_a_redistribution_ends_with_all_of_its_bytes) {
  const int n = world_size();
  const auto source = iota<Matrix>(mesh_of({n}), {Shard(0)}, {64 * n, 32 * n});
  // A rank alone has the result already, but not in other memory.
  const auto target = empty<Matrix>(mesh_of({n}), {Shard(1)}, source.shape());
  std::vector<Progress> seen;
  {
    const ProgressScope scope([&](const Progress& progress) { seen.push_back(progress); }, 1);
    redistribute_into(target, source);
  }
  redistribute(source, {Replicate()});

  ASSERT_FALSE(seen.empty());
  EXPECT_STREQ(seen.back().operation, "tessera::redistribute");
  EXPECT_EQ(seen.back().fraction, 1.0);
  EXPECT_EQ(seen.back().bytes, 64 * n * 32 * std::int64_t{sizeof(double)});
  EXPECT_TRUE(std::ranges::is_sorted(seen, {}, &Progress::fraction));
  EXPECT_EQ(std::ranges::count(seen, 1.0, &Progress::fraction), 1);
}

TEST(Progress, is_not_reported_of_what_is_small) {
  int told = 0;
  const ProgressScope scope([&](const Progress&) { ++told; });
  redistribute(iota<Matrix>(mesh_of({world_size()}), {Shard(0)}, {8, 8}), {Shard(1)});

  EXPECT_EQ(told, 0);
}

TEST(ProgressMeter, never_goes_back) {
  std::vector<double> seen;
  const ProgressScope scope([&](const Progress& progress) { seen.push_back(progress.fraction); },
                            1);
  ProgressMeter meter("test", 100);
  meter.reach(50);
  meter.reach(20);
  meter.finish();

  EXPECT_EQ(seen.front(), 0.5);
  EXPECT_EQ(seen.back(), 1.0);
}

}  // namespace
}  // namespace tessera::test
