// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <tessera/redistribute/redistribute_all.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

TEST(RedistributeAll, several_tensors_travel_in_one_exchange) {
  const auto mesh = mesh_of({world_size()});
  const auto a = iota<Matrix>(mesh, {Shard(0)}, {13, 8});
  const auto b = iota<Matrix>(mesh, {Shard(0)}, {300, 170});
  const auto c = iota<Matrix>(mesh, {Replicate()}, {5, 9});
  const Traffic traffic;

  const auto [x, y, z] = redistribute_all(std::array{a, b, c}, Shard(1));

  EXPECT_EQ(traffic.exchanges(), world_size() > 1 ? 1 : 0);
  EXPECT_TRUE(is_iota(x));
  EXPECT_TRUE(is_iota(y));
  EXPECT_TRUE(is_iota(z));
  EXPECT_EQ(y.placements(), Placements{Shard(1)});
}

TEST(RedistributeAll, partial_tensors_are_reduced_apart_from_others) {
  const auto mesh = mesh_of({world_size()});
  const auto part = iota<Matrix>(mesh, {Replicate()}, {12, 7});
  const auto a = from_local(part.to_local(), mesh, {Partial()}, {12, 7});
  const auto b = iota<Matrix>(mesh, {Shard(1)}, {6, 11});
  const auto c = from_local(part.to_local(), mesh, {Partial()}, {12, 7});

  const auto all = redistribute_all(std::vector{a, b, c}, {Shard(0)});

  EXPECT_TRUE(is_iota(all[0], world_size()));
  EXPECT_TRUE(is_iota(all[1]));
  EXPECT_TRUE(is_iota(all[2], world_size()));
}

TEST(RedistributeAll, partial_tensors_of_many_chunks) {
  const auto mesh = mesh_of({world_size()});
  const auto part = iota<Matrix>(mesh, {Replicate()}, {128, 257});
  const auto a = from_local(part.to_local(), mesh, {Partial()}, {128, 257});
  for (const auto& target : {Placements{Replicate()}, Placements{Shard(0)}, Placements{Shard(1)}})
    for (const auto& sum : redistribute_all(std::vector{a, a, a}, target))
      EXPECT_TRUE(is_iota(sum, world_size()));
}

TEST(RedistributeAll, partial_tensors_whose_operands_come_a_few_at_a_time) {
  const auto mesh = mesh_of({world_size()});
  const auto part = iota<Matrix>(mesh, {Replicate()}, {12, 7});
  const auto a = from_local(part.to_local(), mesh, {Partial()}, {12, 7});
  for (const auto& target : {Placements{Replicate()}, Placements{Shard(0)}, Placements{Shard(1)}})
    for (const std::int64_t extra_memory : {1, 64, 128})
      for (const auto& sum :
           redistribute_all(std::vector{a, a, a}, target, {.extra_memory = extra_memory}))
        EXPECT_TRUE(is_iota(sum, world_size()));
}

TEST(RedistributeAll, memory_given_twice_is_not_donated) {
  const auto mesh = mesh_of({world_size()});
  const auto part = iota<Matrix>(mesh, {Replicate()}, {12, 7});
  const auto a = from_local(part.to_local(), mesh, {Partial()}, {12, 7});

  const auto all = redistribute_all(std::vector{a, a}, {Replicate()}, {.donate_source = true});

  EXPECT_TRUE(is_iota(all[0], world_size()));
  EXPECT_TRUE(is_iota(all[1], world_size()));
}

TEST(RedistributeAll, tensor_that_is_there_already_stays) {
  const auto mesh = mesh_of({world_size()});
  const auto a = iota<Matrix>(mesh, {Shard(1)}, {13, 8});
  const auto b = iota<Matrix>(mesh, {Shard(0)}, {13, 8});

  const auto all = redistribute_all(std::array{a, b}, Shard(1));

  EXPECT_EQ(all[0].to_local().data(), a.to_local().data());
  EXPECT_TRUE(is_iota(all[1]));
}

TEST(RedistributeAll, to_a_spec_on_another_mesh_is_invalid) {
  const auto mesh = mesh_of({world_size()});
  const auto a = iota<Matrix>(mesh, {Shard(0)}, {5, 9});
  const DTensorSpec elsewhere(MeshLayout({world_size() + 1}), {Shard(0)}, {5, 9});

  EXPECT_THAT(message_of<MeshMismatch>([&] {
                redistribute_all(std::array{a, a}, elsewhere);
              }),
              ::testing::StartsWith("redistribute_all: expected a spec on the tensor's mesh"));
  EXPECT_THAT(message_of<MeshMismatch>([&] { redistribute(a, elsewhere); }),
              ::testing::StartsWith("redistribute: expected a spec on the tensor's mesh"));
}

TEST(RedistributeAll, no_tensors_no_results) {
  EXPECT_TRUE(redistribute_all(std::vector<DTensor<Matrix>>(), {Shard(1)}).empty());
}

TEST(RedistributeAll, results_of_equal_plans_are_different_memory) {
  const auto mesh = mesh_of({world_size()});
  const auto a = iota<Matrix>(mesh, {Shard(0)}, {4 * world_size(), 8 * world_size()});
  for (int i = 0; i < 3; ++i) {
    const auto [x, y] = redistribute_all(std::array{a, a}, Shard(1));
    EXPECT_TRUE(world_size() == 1 || x.to_local().data() != y.to_local().data());
    EXPECT_TRUE(is_iota(x));
    EXPECT_TRUE(is_iota(y));
  }
}

}  // namespace
}  // namespace tessera::test
