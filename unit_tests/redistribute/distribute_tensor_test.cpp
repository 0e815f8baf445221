// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What distribute_tensor gives each rank and what it sends; gather_to.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/redistribute/distribute_tensor.hpp>
#include <tessera/tensor/clone.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

std::vector<DeviceMesh> lines() {
  return meshes_of({{1}, {2}, {3}, {4}, {8}});
}

const Extents square{4, 4};

TEST(DistributeTensor, four_ranks_get_a_row_or_a_column_each) {
  const auto mesh = mesh_of({4});
  if (mesh.is_null()) return;
  const auto data = iota_view<Matrix>(square);

  const auto rows = distribute_tensor(data, mesh, {Shard(0)});
  const auto columns = distribute_tensor(data, mesh, {Shard(1)});

  EXPECT_EQ(wrong_iota(rows), "");
  EXPECT_EQ(wrong_iota(columns), "");
  if (!is_on(mesh)) return;
  EXPECT_EQ(rows.local_shape(), (Extents{1, 4}));
  EXPECT_EQ(on_host(rows.to_local())(0, 1), 4 * mesh.rank() + 1);
  EXPECT_EQ(columns.local_shape(), (Extents{4, 1}));
  EXPECT_EQ(on_host(columns.to_local())(1, 0), 4 + mesh.rank());
}

TEST(DistributeTensor, two_by_two_ranks_get_a_block_each) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;

  const auto blocks = distribute_tensor(iota_view<Matrix>(square), mesh, {Shard(0), Shard(1)});

  EXPECT_EQ(wrong_iota(blocks), "");
  if (!is_on(mesh)) return;
  const int r = mesh.rank();
  EXPECT_EQ(blocks.local_shape(), (Extents{2, 2}));
  EXPECT_EQ(blocks.global_offset(), (Extents{2 * (r / 2), 2 * (r % 2)}));
}

TEST(DistributeTensor, data_of_the_source_rank_counts_and_the_others_need_no_extents) {
  for (const auto& mesh : lines()) {
    for (const int source : {0, mesh.size() - 1}) {
      const auto data = mesh.rank() == source ? iota_view<Matrix>({7, 3}) : Matrix();

      Traffic traffic;
      const auto rows = distribute_tensor(data, mesh, {Shard(0)}, {.src_rank = source});

      EXPECT_EQ(wrong_iota(rows), "");
      EXPECT_EQ(traffic.exchanges(), is_on(mesh) && mesh.size() > 1 ? 1 : 0);
      EXPECT_EQ(traffic.metadata(), is_on(mesh) && mesh.size() > 1 ? 1 : 0);
      EXPECT_TRUE(!is_on(mesh) || rows.shape() == Extents({7, 3})) << to_string(rows.shape());
    }
  }
}

TEST(DistributeTensor, wrong_data_of_other_ranks_is_not_looked_at) {
  for (const auto& mesh : lines()) {
    const Matrix wrong("wrong", 2, 9);
    Kokkos::deep_copy(wrong, -1);
    const auto data = mesh.rank() == 0 ? iota_view<Matrix>({7, 3}) : wrong;

    const auto full = distribute_tensor(data, mesh, {Replicate()});
    const auto columns = distribute_tensor(data, mesh, {Shard(-1)});

    EXPECT_EQ(wrong_iota(full), "");
    EXPECT_EQ(wrong_iota(columns), "");
    EXPECT_EQ(columns.placements(), Placements{Shard(1)});
  }
}

TEST(DistributeTensor, each_rank_takes_its_own_slice_without_an_exchange) {
  for (const auto& mesh : lines()) {
    const auto data = iota_view<Matrix>({7, 3});

    Traffic traffic;
    const auto rows = distribute_tensor(data, mesh, {Shard(0)}, {.each_rank = true});
    const auto full = distribute_tensor(data, mesh, {Replicate()}, {.each_rank = true});

    EXPECT_EQ(wrong_iota(rows), "");
    EXPECT_EQ(wrong_iota(full), "");
    EXPECT_EQ(traffic.exchanges() + traffic.metadata() + traffic.agreements(), 0);
  }
}

TEST(DistributeTensor, source_gets_memory_of_its_own) {
  for (const auto& mesh : lines()) {
    const auto data = iota_view<Matrix>({7, 3});

    const auto sent = distribute_tensor(data, mesh, {Replicate()});
    const auto sliced = distribute_tensor(data, mesh, {Replicate()}, {.each_rank = true});
    Kokkos::deep_copy(data, -1);

    EXPECT_EQ(wrong_iota(sent), "");
    EXPECT_EQ(wrong_iota(sliced), "");
  }
}

TEST(DistributeTensor, without_placements_every_rank_gets_all) {
  for (const auto& mesh : meshes_of({{1}, {3}, {2, 2}, {4, 2}})) {
    const auto data = mesh.rank() == 0 ? iota_view<Matrix>({5, 3}) : Matrix();

    const auto full = distribute_tensor(data, mesh);

    EXPECT_TRUE(full.placements().is_all_replicate());
    EXPECT_EQ(wrong_iota(full), "");
  }
}

TEST(DistributeTensor, two_mesh_dims_take_one_exchange) {
  for (const auto& mesh : meshes_of({{2, 2}, {2, 3}, {4, 2}})) {
    for (const Placements& placements :
         {Placements{Shard(0), Shard(1)}, Placements{Shard(1), Shard(1)},
          Placements({Shard(0), Shard(0)}, {1, 0}), Placements{Replicate(), Shard(0)},
          Placements{Shard(0), Replicate()}}) {
      const auto data = mesh.rank() == 1 ? iota_view<Matrix>({9, 7}) : Matrix();

      Traffic traffic;
      const auto tensor = distribute_tensor(data, mesh, placements, {.src_rank = 1});

      EXPECT_EQ(wrong_iota(tensor), "") << to_string(placements);
      EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
    }
  }
}

TEST(DistributeTensor, small_extents_leave_ranks_empty) {
  for (const auto& mesh : lines()) {
    for (const Extents& shape : {Extents{2, 8}, Extents{1, 1}, Extents{0, 3}}) {
      const auto data = mesh.rank() == 0 ? iota_view<Matrix>(shape) : Matrix();

      const auto tensor = distribute_tensor(data, mesh, {Shard(0)});

      EXPECT_EQ(wrong_iota(tensor), "");
      EXPECT_TRUE(!is_on(mesh) || tensor.shape() == shape) << to_string(tensor.shape());
    }
  }
}

TEST(DistributeTensor, const_strided_and_static_views_are_sources) {
  using Const = Kokkos::View<const double**, Kokkos::LayoutLeft, TestSpace>;
  using Static = Kokkos::View<double* [3], Kokkos::LayoutRight, TestSpace>;
  for (const auto& mesh : lines()) {
    const LeftMatrix frame("frame", 7, 5);
    const auto inner = Kokkos::subview(frame, std::pair(1, 6), std::pair(1, 4));
    Kokkos::deep_copy(inner, iota_view<LeftMatrix>({5, 3}));

    const auto from_const =
        distribute_tensor(Const(iota_view<LeftMatrix>({5, 3})), mesh, {Shard(0)});
    const auto from_inner = distribute_tensor(inner, mesh, {Shard(1)});
    const auto from_static = distribute_tensor(iota_view<Static>({5, 3}), mesh, {Shard(0)});

    static_assert(std::is_same_v<decltype(from_static), const DTensor<Static>>);
    EXPECT_EQ(wrong_iota(from_const), "");
    EXPECT_EQ(wrong_iota(from_inner), "");
    EXPECT_EQ(wrong_iota(from_static), "");
  }
}

TEST(DistributeTensor, with_an_instance_is_right_after_a_fence) {
  const Kokkos::DefaultExecutionSpace exec;
  for (const auto& mesh : lines()) {
    const auto data = iota_view<LeftMatrix>({5, 3});

    const auto tensor = distribute_tensor(exec, data, mesh, {Shard(0)});
    exec.fence();

    EXPECT_EQ(wrong_iota(tensor), "");
  }
}

TEST(GatherTo, one_rank_gets_all_and_the_others_nothing) {
  for (const auto& mesh : lines()) {
    const auto rows = iota<Matrix>(mesh, {Shard(0)}, {7, 3});
    for (int rank = 0; rank < mesh.size(); ++rank) {
      Traffic traffic;
      const auto full = gather_to(rows, rank);

      EXPECT_EQ(traffic.exchanges(), is_on(mesh) && mesh.size() > 1 ? 1 : 0);
      if (mesh.rank() == rank)
        EXPECT_EQ(wrong_view(full, {7, 3}, GlobalIndex({7, 3})), "");
      else
        EXPECT_EQ(full.size(), 0u);
    }
  }
}

}  // namespace
}  // namespace tessera::test
