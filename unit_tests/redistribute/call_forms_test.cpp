// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Every way in which a call may be written: with and without an execution space instance, a mesh
// and a target, and all that converts to a Target. It also compiles with clang.
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

Kokkos::DefaultExecutionSpace instance() {
  return {};
}

/// A lambda for devices may not stand in a TEST: its class is private.
struct One {
  KOKKOS_FUNCTION double operator()(Kokkos::Array<std::int64_t, 2>) const { return 1; }
};

TEST(CallForms, of_redistribute_on_a_mesh_of_one_dim) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  const auto columns = Placements{Shard(1)};
  const auto spec = with_placements(x.spec(), columns);
  const std::vector<Placement> list{Shard(1)};
  const Placement one = Shard(1);

  for (const auto& y :
       {redistribute(x, Shard(1)), redistribute(x, {Shard(1)}), redistribute(x, columns),
        redistribute(x, list), redistribute(x, one), redistribute(x, spec),
        redistribute(x, Shard(1), {.extra_memory = 1000}), redistribute(instance(), x, Shard(1)),
        redistribute(instance(), x, {Shard(1)}, {.extra_memory = 1000}),
        redistribute(x, mesh, Shard(1)), redistribute(x, mesh, {Shard(1)}),
        redistribute(x, mesh, spec), redistribute(instance(), x, mesh, spec),
        redistribute(instance(), x, mesh, columns, {.extra_memory = 1000}),
        redistribute(x, by_dim(mesh, {{}, {0}})), redistribute_async(x, Shard(1)).wait(),
        redistribute_async(instance(), x, spec).wait(), redistribute_async(x, mesh, list).wait(),
        redistribute_async(instance(), x, mesh, {Shard(1)}).wait()}) {
    instance().fence();
    EXPECT_EQ(y.spec(), spec);
    EXPECT_TRUE(is_iota(y));
  }
}

TEST(CallForms, without_a_target_give_the_full_tensor) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});

  for (const auto& y :
       {redistribute(x), redistribute(x, Replicate()), redistribute(x, all_replicate),
        redistribute(x, mesh), redistribute(instance(), x), redistribute(instance(), x, mesh),
        redistribute_async(x).wait(), redistribute_async(x, mesh).wait(),
        redistribute_async(instance(), x).wait(), redistribute_all(std::vector{x})[0],
        redistribute_all(instance(), std::array{x, x})[1]}) {
    instance().fence();
    EXPECT_TRUE(y.placements().is_all_replicate());
    EXPECT_TRUE(is_iota(y));
  }
}

TEST(CallForms, name_the_view_type_of_the_result) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});

  const DTensor<LeftMatrix> y = redistribute<LeftMatrix>(x, Shard(1));
  const DTensor<LeftMatrix> z =
      redistribute<LeftMatrix>(instance(), x, mesh, {Shard(1)}, {.extra_memory = 1000});
  const Pending<DTensor<LeftMatrix>> pending = redistribute_async<LeftMatrix>(x, Shard(1));
  instance().fence();

  static_assert(std::is_same_v<redistributed_view_t<Matrix, LeftMatrix>, LeftMatrix>);
  using Strided = Kokkos::View<const double**, Kokkos::LayoutStride, TestSpace>;
  using Dense = Kokkos::View<double**, Kokkos::LayoutRight, Matrix::device_type>;
  static_assert(std::is_same_v<redistributed_view_t<Strided>, Dense>);
  EXPECT_TRUE(is_iota(y));
  EXPECT_TRUE(is_iota(z));
}

TEST(CallForms, of_two_mesh_dims_and_a_split_order) {
  const auto mesh = mesh_of({1, world_size()});
  const auto x = iota<Matrix>(mesh, {Replicate(), Shard(0)}, {6, 5});
  const Placements reordered({Shard(0), Shard(0)}, {1, 0});

  for (const auto& y : {redistribute(x, {{Shard(0), Shard(0)}, {1, 0}}), redistribute(x, reordered),
                        redistribute(x, mesh, {{Shard(0), Shard(0)}, {1, 0}}),
                        redistribute(instance(), x, {{Shard(0), Shard(0)}, {1, 0}})}) {
    instance().fence();
    EXPECT_EQ(y.placements(), reordered);
    EXPECT_TRUE(is_iota(y));
  }
  EXPECT_TRUE(is_iota(redistribute(x, {Shard(0), Replicate()})));
}

TEST(CallForms, of_placements_by_dim_for_named_mesh_dims) {
  const auto mesh = mesh_of({1, world_size()}, {"dp", "tp"});
  const Extents shape{2 * world_size(), 5};
  const auto rows = by_dim(mesh, {{"dp", "tp"}, {}});
  const auto x = iota<Matrix>(mesh, rows, shape);
  const auto full = iota_view<Matrix>(shape);

  EXPECT_EQ(rows, (Placements{Shard(0), Shard(0)}));
  for (const auto& y :
       {from_local(x.to_local(), mesh, rows), distribute_tensor(full, mesh, rows),
        distribute_tensor(full, mesh, rows, {.each_rank = true}), redistribute(x, rows),
        redistribute(redistribute(x, by_dim(mesh, {{}, {"tp"}})), mesh, rows)}) {
    EXPECT_EQ(y.spec(), x.spec());
    EXPECT_TRUE(is_iota(y));
  }
  EXPECT_EQ(zeros<Matrix>(mesh, by_dim(mesh, {{"dp"}, {}}), shape).placements(),
            (Placements{Shard(0), Replicate()}));
  EXPECT_EQ(redistribute(x, by_dim(mesh, {{}, {"tp"}})).placements(),
            (Placements{Replicate(), Shard(1)}));
}

TEST(CallForms, of_factories) {
  const auto mesh = mesh_of({world_size()});
  const DeviceMeshScope scope(mesh);
  const int rows = 10;
  const std::vector<std::int64_t> shape{10, 4};
  const DTensorSpec spec(mesh.layout(), {Shard(0)}, {10, 4});
  const One one;
  const auto exec = instance();

  for (const auto& x :
       {empty<Matrix>(mesh, {Shard(0)}, {10, 4}), empty<Matrix>({Shard(0)}, {10, 4}),
        empty<Matrix>(mesh, Shard(0), {rows, 4}), empty<Matrix>(exec, mesh, {Shard(0)}, {10, 4}),
        empty<Matrix>(exec, {Shard(0)}, shape), empty<Matrix>(spec, shape),
        zeros<Matrix>(Shard(0), shape), ones<Matrix>(exec, Shard(0), spec.shape()),
        full<Matrix>(mesh, {Shard(0)}, {10, 4}, 7), full<Matrix>({Shard(0)}, {10, 4}, 7),
        full<Matrix>(exec, {Shard(0)}, {10, 4}, 7.0), full<Matrix>(exec, mesh, spec, {10, 4}, 7),
        rand<Matrix>(mesh, {Shard(0)}, {10, 4}), rand<Matrix>({Shard(0)}, {10, 4}, {.seed = 3}),
        rand<Matrix>(exec, {Shard(0)}, {10, 4}, {1, 2}), rand<Matrix>(mesh, spec, {10, 4}, {5}),
        randn<Matrix>(exec, mesh, {Shard(0)}, {10, 4}, {1, 2}),
        from_function<Matrix>({Shard(0)}, {10, 4}, one),
        from_function<Matrix>(exec, mesh, Shard(0), {10, 4}, one)}) {
    exec.fence();
    EXPECT_EQ(x.spec(), spec);
  }
  EXPECT_EQ(ones<Vector>(mesh, Shard(0), {10}).shape(), Extents{10});
}

TEST(CallForms, full_takes_the_number_in_a_tensor) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});

  const auto y = full<Matrix>(mesh, Shard(1), {4, 3}, item(ops::max(x)));

  EXPECT_EQ(wrong_piece(y, [](const Extents&) { return 29; }), "");
}

TEST(CallForms, of_from_local_and_distribute_tensor) {
  const auto mesh = mesh_of({world_size()});
  const DeviceMeshScope scope(mesh);
  const DTensorSpec spec(mesh.layout(), {Shard(0)}, {2 * world_size(), 3});
  const Matrix view = zeros<Matrix>(mesh, spec, spec.shape()).to_local();
  const auto rows = spec.shape()[0];

  for (const auto& x :
       {from_local(view, mesh, {Shard(0)}), from_local(view, Shard(0)), from_local(view, spec),
        from_local(view, mesh, {Shard(0)}, {.run_check = true}),
        from_local(view, mesh, {Shard(0)}, {}),
        from_local(view, mesh, {Shard(0)}, {2 * world_size(), 3}),
        from_local(view, {Shard(0)}, {2 * world_size(), 3}),
        from_local(view, mesh, Shard(0), {rows, 3}),
        from_local(view, mesh, {Shard(0)}, spec.shape()),
        from_local(view, Shard(0), std::vector{rows, std::int64_t{3}})})
    EXPECT_EQ(x.spec(), spec);

  const Matrix full("full", static_cast<std::size_t>(rows), 3);
  for (const auto& x :
       {distribute_tensor(full, mesh, {Shard(0)}), distribute_tensor(full, Shard(0)),
        distribute_tensor(full, spec), distribute_tensor(instance(), full, mesh, Shard(0)),
        distribute_tensor(instance(), full, {Shard(0)}, {.each_rank = true})}) {
    instance().fence();
    EXPECT_EQ(x.spec(), spec);
  }
  EXPECT_TRUE(distribute_tensor(full).placements().is_all_replicate());
  EXPECT_TRUE(distribute_tensor(full, mesh).placements().is_all_replicate());
  EXPECT_TRUE(distribute_tensor(instance(), full).placements().is_all_replicate());
}

TEST(CallForms, of_distribute_tensor_to_a_spec_off_the_mesh_give_nothing) {
  for (const auto& mesh : meshes_of({{1}, {2}})) {
    const DTensorSpec spec(
        mesh.layout(), {Shard(0)}, {4, 3},
        {mesh.size() == 2 ? Boundaries::value_type{0, 1, 4} : Boundaries::value_type{}, {}});
    const Matrix full(is_on(mesh) ? Matrix("full", 4, 3) : Matrix());

    const auto x = distribute_tensor(full, mesh, spec);

    EXPECT_EQ(x.spec(), spec);
    EXPECT_EQ(x.to_local().size(), static_cast<std::size_t>(product(x.local_shape())));
  }
}

TEST(CallForms, of_functional_collectives) {
  const auto mesh = mesh_of({1, world_size()}, {"dp", "tp"});
  const Matrix view("view", 2, 3);
  const auto exec = instance();
  const auto n = static_cast<std::size_t>(world_size());

  EXPECT_EQ(all_reduce(view, ReduceOp::sum, mesh, 1).extent(0), 2U);
  EXPECT_EQ(all_reduce(view, ReduceOp::sum, mesh, "tp").extent(0), 2U);
  EXPECT_EQ(all_reduce(exec, view, ReduceOp::sum, mesh, {"dp", "tp"}).extent(0), 2U);
  EXPECT_EQ(all_gather(exec, view, -1, mesh, -1).extent(1), 3 * n);
  const Pending<Matrix> pending = all_gather_async(exec, view, 0, mesh, "tp");
}

TEST(CallForms, of_local_map_take_one_placement_for_a_mesh_of_one_dim) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  const auto same = [](const Matrix& view) { return view; };

  EXPECT_TRUE(is_iota(local_map(same, Shard(0), {Shard(0)})(x)));
  EXPECT_TRUE(is_iota(local_map(same, {Shard(0)}, {Shard(0)})(x)));
  EXPECT_TRUE(is_iota(local_map(same, {Shard(0)}, {{Shard(0)}})(x)));
  EXPECT_TRUE(is_iota(local_map(same, {Shard(0)}, {keep})(x)));
}

}  // namespace
}  // namespace tessera::test
