// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Factories of tensors, and the default mesh that DeviceMeshScope sets.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/redistribute/distribute_tensor.hpp>
#include <tessera/redistribute/item.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/factories.hpp>
#include <tessera/tensor/from_local.hpp>
#include <tessera/tensor/label_scope.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

std::vector<DeviceMesh> lines() {
  return meshes_of({{1}, {2}, {3}, {4}, {8}});
}

const Extents shape{5, 4};

auto constant(double value) {
  return [value](const Extents&) { return value; };
}

// The last rank holds one row less than the others.
TEST(Factories, rows_of_31_on_four_ranks) {
  const auto mesh = mesh_of({4});
  if (mesh.is_null()) return;

  const auto tensor = zeros<Matrix>(mesh, {Shard(0)}, {31, 3});

  EXPECT_EQ(wrong_piece(tensor, constant(0)), "");
  if (!is_on(mesh)) return;
  EXPECT_EQ(tensor.local_shape(), (Extents{mesh.rank() < 3 ? 8 : 7, 3}));
}

TEST(Factories, rows_and_columns_of_31_by_3_on_two_by_two) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;

  const auto tensor = zeros<Matrix>(mesh, {Shard(0), Shard(1)}, {31, 3});

  EXPECT_EQ(wrong_piece(tensor, constant(0)), "");
  if (!is_on(mesh)) return;
  const std::vector<Extents> expected{{16, 2}, {16, 1}, {15, 2}, {15, 1}};
  EXPECT_EQ(tensor.local_shape(), expected[static_cast<std::size_t>(mesh.rank())]);
}

TEST(Factories, mesh_of_two_ranks_of_four_leaves_the_others_empty) {
  if (world_size() < 4) return;
  const auto mesh = DeviceMesh::from_ranks(MPI_COMM_WORLD, {0, 3}, {2});

  const auto tensor = zeros<Matrix>(mesh, {Shard(0)}, {32, 3});

  const bool is_member = world_rank() == 0 || world_rank() == 3;
  EXPECT_EQ(mesh.coordinate().has_value(), is_member);
  EXPECT_EQ(tensor.local_shape(), is_member ? Extents({16, 3}) : Extents({0, 0}));
  EXPECT_EQ(tensor.shape(), (Extents{32, 3}));
  EXPECT_EQ(wrong_piece(tensor, constant(0)), "");
}

// The rows are split into four chunks, and each chunk into two.
TEST(Factories, rows_of_18_split_twice) {
  const auto mesh = mesh_of({4, 2});
  if (mesh.is_null()) return;

  const auto tensor = zeros<Matrix>(mesh, {Shard(0), Shard(0)}, {18, 2});

  if (!is_on(mesh)) return;
  const std::vector<std::int64_t> rows{3, 2, 3, 2, 3, 2, 2, 1};
  const std::vector<std::int64_t> offsets{0, 3, 5, 8, 10, 13, 15, 17};
  const auto rank = static_cast<std::size_t>(mesh.rank());
  EXPECT_EQ(tensor.local_shape(), (Extents{rows[rank], 2}));
  EXPECT_EQ(tensor.global_offset(), (Extents{offsets[rank], 0}));
}

TEST(Factories, values_are_as_asked_for) {
  for (const auto& mesh : lines()) {
    Traffic traffic;
    const auto zero = zeros<Matrix>(mesh, {Shard(0)}, shape);
    const auto one = ones<LeftMatrix>(mesh, {Shard(1)}, shape);
    const auto seven = full<Matrix>(mesh, {Replicate()}, shape, 7);
    const auto index = iota<LeftMatrix>(mesh, {Shard(0)}, shape);
    const auto nothing = empty<Matrix>(mesh, {Shard(0)}, shape);

    EXPECT_EQ(wrong_piece(zero, constant(0)), "");
    EXPECT_EQ(wrong_piece(one, constant(1)), "");
    EXPECT_EQ(wrong_piece(seven, constant(7)), "");
    EXPECT_EQ(wrong_iota(index), "");
    EXPECT_EQ(nothing.spec(), zero.spec());
    EXPECT_EQ(nothing.to_local().extent_int(0), zero.local_shape()[0]);
    EXPECT_EQ(traffic.metadata() + traffic.exchanges() + traffic.agreements(), 0);
  }
}

TEST(Factories, with_an_instance_give_the_same_after_a_fence) {
  const Kokkos::DefaultExecutionSpace exec;
  for (const auto& mesh : lines()) {
    const auto zero = zeros<Matrix>(exec, mesh, {Shard(0)}, shape);
    const auto one = ones<Matrix>(exec, mesh, {Shard(0)}, shape);
    const auto seven = full<Matrix>(exec, mesh, {Shard(0)}, shape, 7);
    const auto index = from_function<Matrix>(exec, mesh, {Shard(0)}, shape, GlobalIndex(shape));
    const auto nothing = empty<Matrix>(exec, mesh, {Shard(0)}, shape);
    exec.fence();

    EXPECT_EQ(wrong_piece(zero, constant(0)), "");
    EXPECT_EQ(wrong_piece(one, constant(1)), "");
    EXPECT_EQ(wrong_piece(seven, constant(7)), "");
    EXPECT_EQ(wrong_iota(index), "");
    EXPECT_EQ(nothing.spec(), zero.spec());
  }
}

TEST(Factories, nested_splits_keep_the_global_index) {
  for (const auto& mesh : meshes_of({{2, 2}, {2, 3}, {4, 2}})) {
    for (const Extents& global : {Extents{10, 3}, Extents{3, 10}, Extents{1, 1}, Extents{0, 4}}) {
      const auto by_order = iota<Matrix>(mesh, {Shard(0), Shard(0)}, global);
      const auto reordered = iota<Matrix>(mesh, Placements({Shard(0), Shard(0)}, {1, 0}), global);
      const auto crossed = iota<LeftMatrix>(mesh, {Shard(1), Shard(0)}, global);

      EXPECT_EQ(wrong_iota(by_order), "");
      EXPECT_EQ(wrong_iota(reordered), "");
      EXPECT_EQ(wrong_iota(crossed), "");
    }
  }
}

TEST(Factories, editing_the_placements_later_changes_nothing) {
  for (const auto& mesh : lines()) {
    Placements placements{Shard(0)};
    Extents global = shape;
    const auto tensor = zeros<Matrix>(mesh, placements, global);

    placements = Placements{Replicate()};
    global[0] = 17;

    EXPECT_EQ(tensor.placements(), Placements{Shard(0)});
    EXPECT_EQ(tensor.shape(), shape);
  }
}

TEST(Factories, copies_are_shallow) {
  const auto mesh = mesh_of({1});
  const auto tensor = zeros<Matrix>(mesh, {Shard(0)}, shape);

  const auto copy = tensor;
  if (is_on(mesh)) Kokkos::deep_copy(copy.to_local(), 3);

  EXPECT_EQ(wrong_piece(tensor, constant(3)), "");
}

TEST(Factories, null_tensor_has_an_empty_view) {
  const DTensor<Matrix> tensor;

  EXPECT_TRUE(tensor.device_mesh().is_null());
  EXPECT_EQ(tensor.to_local().size(), 0u);
}

TEST(Factories, zero_dimensional_tensor_works_everywhere) {
  using Scalar = Kokkos::View<double, TestSpace>;
  for (const auto& mesh : lines()) {
    const auto tensor = full<Scalar>(mesh, {Replicate()}, {}, 4.5);
    const auto index = from_function<Scalar>(mesh, {Replicate()}, {}, GlobalIndex({}, 1));
    const auto local = Scalar("local");
    Kokkos::deep_copy(local, mesh.rank() + 1);

    const auto same = redistribute(tensor, {Replicate()});
    const auto partial = from_local(local, mesh, {Partial()});
    const auto sum = item(reduce_partial(partial));
    const auto value = item(same);
    const auto given = distribute_tensor(local, mesh, {Replicate()}, {.src_rank = mesh.size() - 1});

    EXPECT_EQ(value, is_on(mesh) ? 4.5 : 0.0);
    EXPECT_EQ(sum, is_on(mesh) ? mesh.size() * (mesh.size() + 1) / 2 : 0);
    EXPECT_EQ(item(given), is_on(mesh) ? mesh.size() : 0);
    EXPECT_EQ(item(index), 0.0);
    EXPECT_EQ(tensor.size(), 1);
  }
}

TEST(Factories, views_without_dynamic_extents_work_off_the_mesh_too) {
  using Scalar = Kokkos::View<double, TestSpace>;
  using Three = Kokkos::View<double[3], TestSpace>;
  for (const auto& mesh : lines()) {
    const auto scalar = rand<Scalar>(mesh, {Replicate()}, {}, {.seed = 1});
    const auto drawn = rand<Three>(mesh, {Replicate()}, {3}, {.seed = 1});
    const auto index = iota<Three>(mesh, {Replicate()}, {3});
    const auto copy = clone(ones<Three>(mesh, {Replicate()}, {3}));
    const auto full = full_tensor(index);

    EXPECT_EQ(drawn.to_local().data() != nullptr, is_on(mesh));
    if (!is_on(mesh)) continue;
    EXPECT_EQ(item(scalar), on_host(drawn.to_local())(0));
    EXPECT_EQ(wrong_iota(index), "");
    EXPECT_EQ(wrong_view(full, {3}, GlobalIndex({3})), "");
    EXPECT_EQ(wrong_piece(copy, constant(1)), "");
  }
}

TEST(Factories, random_integers_are_invalid_also_where_the_piece_is_empty) {
  using Integers = Kokkos::View<int*, Kokkos::LayoutRight, TestSpace>;
  for (const auto& mesh : lines()) {
    const auto uniform =
        message_of<InvalidArgument>([&] { rand<Integers>(mesh, {Shard(0)}, {1}); });
    const auto normal =
        message_of<InvalidArgument>([&] { randn<Integers>(mesh, {Shard(0)}, {0}); });

    EXPECT_EQ(uniform,
              "rand: expected float, double or a complex of them as element type, got int32");
    EXPECT_EQ(normal,
              "randn: expected float, double or a complex of them as element type, got int32");
  }
}

TEST(Factories, extents_0_and_1_work_everywhere) {
  for (const auto& mesh : lines()) {
    for (const Extents& global : {Extents{0, 4}, Extents{4, 0}, Extents{0, 0}, Extents{1, 1},
                                  Extents{1, 5}, Extents{5, 1}}) {
      const auto rows = iota<Matrix>(mesh, {Shard(0)}, global);

      const auto columns = redistribute(rows, {Shard(1)});
      const auto full = full_tensor(columns);
      const auto again = distribute_tensor(full, mesh, {Shard(0)});
      const auto gathered = gather_to(again, mesh.size() - 1);

      EXPECT_EQ(wrong_iota(rows), "");
      EXPECT_EQ(wrong_iota(columns), "");
      EXPECT_EQ(wrong_iota(again), "");
      if (mesh.rank() == mesh.size() - 1)
        EXPECT_EQ(wrong_view(gathered, global, GlobalIndex(global)), "");
      else
        EXPECT_EQ(gathered.size(), 0u);
    }
  }
}

TEST(Factories, eight_dimensional_tensor_works_everywhere) {
  using Eight = Kokkos::View<double********, Kokkos::LayoutLeft, TestSpace>;
  const Extents global{2, 3, 1, 2, 2, 1, 3, 2};
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {2, 2}, {4, 2}})) {
    const auto split = [&](int first, int second) {
      return mesh.ndim() == 1 ? Placements{Shard(first)} : Placements{Shard(first), Shard(second)};
    };
    const auto tensor = iota<Eight>(mesh, split(1, 7), global);

    const auto moved = redistribute(tensor, split(6, 0));
    const auto full = full_tensor(moved);

    EXPECT_EQ(wrong_iota(tensor), "");
    EXPECT_EQ(wrong_iota(moved), "");
    if (!is_on(mesh)) continue;
    EXPECT_EQ(wrong_view(full, global, GlobalIndex(global)), "");
  }
}

TEST(DeviceMeshScope, innermost_mesh_is_the_default) {
  const auto outer = mesh_of({1});
  const auto inner = world_size() > 1 ? mesh_of({2}) : mesh_of({1, 1});
  const auto placements = world_size() > 1 ? Placements{Shard(0)} : Placements{Shard(0), Shard(1)};
  const auto local = iota_view<Matrix>({2, 2});

  const DeviceMeshScope outer_scope(outer);
  const auto before = zeros<Matrix>({Shard(0)}, shape);
  {
    const DeviceMeshScope inner_scope(inner);
    EXPECT_EQ(zeros<Matrix>(placements, shape).device_mesh(), inner);
    EXPECT_EQ(ones<Matrix>(placements, shape).device_mesh(), inner);
    EXPECT_EQ(empty<Matrix>(placements, shape).device_mesh(), inner);
    EXPECT_EQ(full<Matrix>(placements, shape, 1).device_mesh(), inner);
    EXPECT_EQ(rand<Matrix>(placements, shape).device_mesh(), inner);
    EXPECT_EQ(randn<Matrix>(placements, shape).device_mesh(), inner);
    EXPECT_EQ(from_function<Matrix>(placements, shape, GlobalIndex(shape)).device_mesh(), inner);
    const auto kept = from_local(local, placements);
    const auto distributed = distribute_tensor(local, placements);
    const auto replicated = distribute_tensor(local);
    EXPECT_EQ(kept.device_mesh(), inner);
    EXPECT_EQ(distributed.device_mesh(), inner);
    EXPECT_EQ(replicated.device_mesh(), inner);
    EXPECT_TRUE(replicated.placements().is_all_replicate());
  }
  const auto after = zeros<Matrix>({Shard(0)}, shape);

  EXPECT_EQ(before.device_mesh(), outer);
  EXPECT_EQ(after.device_mesh(), outer);
}

TEST(DeviceMeshScope, instance_and_default_mesh_go_together) {
  const auto mesh = mesh_of({1});
  const DeviceMeshScope scope(mesh);
  const Kokkos::DefaultExecutionSpace exec;
  const Placements placements{Shard(0)};

  EXPECT_EQ(zeros<Matrix>(exec, placements, shape).device_mesh(), mesh);
  EXPECT_EQ(ones<Matrix>(exec, placements, shape).device_mesh(), mesh);
  EXPECT_EQ(empty<Matrix>(exec, placements, shape).device_mesh(), mesh);
  EXPECT_EQ(full<Matrix>(exec, placements, shape, 1).device_mesh(), mesh);
  EXPECT_EQ(rand<Matrix>(exec, placements, shape).device_mesh(), mesh);
  EXPECT_EQ(randn<Matrix>(exec, placements, shape).device_mesh(), mesh);
  EXPECT_EQ(from_function<Matrix>(exec, placements, shape, GlobalIndex(shape)).device_mesh(), mesh);
}

TEST(DeviceMeshScope, outside_any_scope_a_mesh_is_needed) {
  const Placements placements{Shard(0)};
  const auto local = iota_view<Matrix>({2, 2});
  const auto text = std::string(": expected a mesh, or a DeviceMeshScope around the call");

  const auto of_zeros = message_of<InvalidArgument>([&] { zeros<Matrix>(placements, shape); });
  const auto of_rand = message_of<InvalidArgument>([&] { rand<Matrix>(placements, shape); });
  const auto of_local = message_of<InvalidArgument>([&] { from_local(local, placements); });
  const auto of_all = message_of<InvalidArgument>([&] { distribute_tensor(local); });

  EXPECT_THAT(of_zeros, HasSubstr("zeros" + text));
  EXPECT_THAT(of_rand, HasSubstr("rand" + text));
  EXPECT_THAT(of_local, HasSubstr("from_local" + text));
  EXPECT_THAT(of_all, HasSubstr("distribute_tensor" + text));
}

TEST(Labels, of_results_are_those_of_the_innermost_scope) {
  const auto mesh = mesh_of({world_size()});
  EXPECT_EQ(zeros<Matrix>(mesh, Shard(0), {4, 4}).to_local().label(), "tessera::zeros");
  const LabelScope outer("outer");
  const auto x = zeros<Matrix>(mesh, Shard(0), {4, 4});
  {
    const LabelScope inner("inner");
    EXPECT_EQ(clone(x).to_local().label(), "inner");
  }
  EXPECT_EQ(x.to_local().label(), "outer");
}

}  // namespace
}  // namespace tessera::test
