// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/redistribute/collectives.hpp>

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

/// Meshes with dims "a" and "b".
std::vector<DeviceMesh> grids() {
  std::vector<DeviceMesh> result;
  for (const auto& shape : {std::vector{1, 1}, {2, 2}, {2, 3}, {4, 2}})
    if (const auto mesh = mesh_of(shape, {"a", "b"}); !mesh.is_null()) result.push_back(mesh);
  return result;
}

bool communicates(const DeviceMesh& mesh) {
  return is_on(mesh) && mesh.size() > 1;
}

Matrix matrix(std::int64_t rows, std::int64_t columns) {
  return Matrix("matrix", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

/// The rows of iota(total, columns) that this rank has if rank i has rows_of(i).
template <class RowsOf>
Matrix rows_of_iota(int parts, int part, std::int64_t columns, const RowsOf& rows_of) {
  std::int64_t begin = 0;
  std::int64_t total = 0;
  for (int i = 0; i < parts; ++i) {
    if (i < part) begin += rows_of(i);
    total += rows_of(i);
  }
  const auto view = matrix(part < 0 ? 0 : rows_of(part), columns);
  fill_iota(view, {begin, 0}, {total, columns});
  return view;
}

Matrix constant(double value) {
  const auto view = matrix(3, 2);
  Kokkos::deep_copy(view, value);
  return view;
}

TEST(AllReduce, sums_along_the_mesh) {
  for (const auto& mesh : lines()) {
    const auto mine = iota_view<Matrix>({5, 3});

    Traffic traffic;
    const auto sum = all_reduce(mine, ReduceOp::sum, mesh, 0);

    EXPECT_EQ(traffic.exchanges(), communicates(mesh) ? 1 : 0);
    EXPECT_EQ(traffic.metadata(), 0);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(wrong_view(sum, {5, 3}, GlobalIndex({5, 3}, mesh.size())), "");
    EXPECT_NE(sum.data(), mine.data());
  }
}

TEST(AllReduce, knows_all_ops) {
  using Numbers = Kokkos::View<int*, Kokkos::LayoutRight, TestSpace>;
  const auto mesh = mesh_of({3});
  if (mesh.is_null()) return;
  const Numbers mine("mine", 1);
  if (is_on(mesh))
    Kokkos::deep_copy(mine, std::vector{12, 10, 9}[static_cast<std::size_t>(mesh.rank())]);
  const auto reduced_by = [&](ReduceOp op) {
    const auto result = all_reduce(mine, op, mesh, 0);
    return is_on(mesh) ? on_host(result)(0) : 0;
  };

  const std::vector<int> results{reduced_by(ReduceOp::sum),     reduced_by(ReduceOp::avg),
                                 reduced_by(ReduceOp::product), reduced_by(ReduceOp::min),
                                 reduced_by(ReduceOp::max),     reduced_by(ReduceOp::band),
                                 reduced_by(ReduceOp::bor),     reduced_by(ReduceOp::bxor)};

  if (!is_on(mesh)) return;
  EXPECT_EQ(results, (std::vector{31, 10, 1080, 9, 12, 8, 15, 15}));
}

TEST(AllReduce, goes_along_one_mesh_dim_or_several) {
  for (const auto& mesh : grids()) {
    const auto value = is_on(mesh) ? mesh.rank() : 0;
    const auto sum_along = [&](const MeshDims& dims) {
      const auto result = all_reduce(constant(value), ReduceOp::sum, mesh, dims);
      return is_on(mesh) ? on_host(result)(2, 1) : 0;
    };

    const double along_a = sum_along("a");
    const double along_b = sum_along(-1);
    const double along_both = sum_along({"a", "b"});
    const double along_both_reordered = sum_along({1, 0});

    if (!is_on(mesh)) continue;
    const int a = mesh.size(0);
    const int b = mesh.size(1);
    const auto& at = *mesh.coordinate();
    EXPECT_EQ(along_a, a * at[1] + b * a * (a - 1) / 2);
    EXPECT_EQ(along_b, b * b * at[0] + b * (b - 1) / 2);
    EXPECT_EQ(along_both, mesh.size() * (mesh.size() - 1) / 2);
    EXPECT_EQ(along_both_reordered, along_both);
  }
}

TEST(AllReduce, adds_in_the_order_of_the_ranks_by_the_fixed_tree) {
  for (const auto& mesh : lines()) {
    const std::vector<double> contributions{1e16, 1.0, -1e16, 3.0, 0.1, 7e15, -7e15, 0.3};
    const auto n = static_cast<std::size_t>(mesh.size());
    const auto tree = [&](const auto& self, std::size_t first, std::size_t last) -> double {
      if (last - first == 1) return contributions[first];
      std::size_t half = 1;
      while (2 * half < last - first) half *= 2;
      return self(self, first, first + half) + self(self, first + half, last);
    };
    const auto mine =
        constant(is_on(mesh) ? contributions[static_cast<std::size_t>(mesh.rank())] : 0);

    const auto sum = all_reduce(mine, ReduceOp::sum, mesh, 0);

    if (!is_on(mesh)) continue;
    EXPECT_EQ(wrong_view(sum, {3, 2}, [&](const Extents&) { return tree(tree, 0, n); }), "");
  }
}

TEST(AllReduce, of_a_scalar_and_of_nothing) {
  using Scalar = Kokkos::View<double, TestSpace>;
  for (const auto& mesh : lines()) {
    const Scalar one("one");
    Kokkos::deep_copy(one, 1);

    const auto sum = all_reduce(one, ReduceOp::sum, mesh, 0);
    Traffic traffic;
    const auto nothing = all_reduce(matrix(0, 3), ReduceOp::sum, mesh, 0);

    EXPECT_EQ(traffic.exchanges(), 0);
    EXPECT_EQ(nothing.size(), 0u);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(on_host(sum)(), mesh.size());
  }
}

TEST(AllGather, joins_equal_rows) {
  for (const auto& mesh : lines()) {
    const auto mine =
        rows_of_iota(mesh.size(), mesh.rank(), 3, [](int) { return std::int64_t{2}; });

    Traffic traffic;
    const auto all = all_gather(mine, 0, mesh, 0);

    EXPECT_EQ(traffic.exchanges(), communicates(mesh) ? 1 : 0);
    EXPECT_EQ(traffic.metadata(), communicates(mesh) ? 1 : 0);
    if (!is_on(mesh)) continue;
    const Extents shape{2 * mesh.size(), 3};
    EXPECT_EQ(wrong_view(all, shape, GlobalIndex(shape)), "");
  }
}

TEST(AllGather, joins_uneven_rows_and_none) {
  for (const auto& mesh : lines()) {
    const auto rows = [](int rank) { return std::int64_t{(rank * 2) % 3}; };
    const auto mine = rows_of_iota(mesh.size(), mesh.rank(), 3, rows);
    std::int64_t total = 0;
    for (int rank = 0; rank < mesh.size(); ++rank) total += rows(rank);

    const auto all = all_gather(mine, -2, mesh, 0);

    if (!is_on(mesh)) continue;
    EXPECT_EQ(wrong_view(all, {total, 3}, GlobalIndex({total, 3})), "");
  }
}

TEST(AllGather, joins_columns_of_left_views) {
  for (const auto& mesh : lines()) {
    const Extents shape{3, 2 * mesh.size()};
    const LeftMatrix frame("frame", 5, 4);
    const auto mine = Kokkos::subview(frame, std::pair(1, 4), std::pair(1, 3));
    if (is_on(mesh)) fill_iota(mine, {0, 2 * mesh.rank()}, shape);

    const auto all = all_gather(mine, 1, mesh, 0);

    if (!is_on(mesh)) continue;
    EXPECT_EQ(wrong_view(all, shape, GlobalIndex(shape)), "");
  }
}

TEST(AllGather, several_mesh_dims_come_in_the_order_named) {
  for (const auto& mesh : grids()) {
    const auto mine = matrix(1, 1);
    Kokkos::deep_copy(mine, is_on(mesh) ? mesh.rank() : 0);

    Traffic traffic;
    const auto row_major = all_gather(mine, 0, mesh, {"a", "b"});
    const int exchanges = traffic.exchanges();
    const auto reordered = all_gather(mine, 0, mesh, {"b", "a"});
    const auto along_b = all_gather(mine, 0, mesh, "b");

    EXPECT_EQ(exchanges, communicates(mesh) ? 1 : 0);
    if (!is_on(mesh)) continue;
    const int a = mesh.size(0);
    const int b = mesh.size(1);
    const int first = b * (*mesh.coordinate())[0];
    EXPECT_EQ(wrong_view(row_major, {a * b, 1}, [](const Extents& i) { return i[0]; }), "");
    EXPECT_EQ(wrong_view(reordered, {a * b, 1},
                         [&](const Extents& i) { return (i[0] % a) * b + i[0] / a; }),
              "");
    EXPECT_EQ(wrong_view(along_b, {b, 1}, [&](const Extents& i) { return first + i[0]; }), "");
  }
}

TEST(AllGather, other_extents_have_to_agree) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}})) {
    const auto mine = matrix(2, mesh.rank() == 1 ? 4 : 3);

    const auto message = message_of<InvalidArgument>([&] { all_gather(mine, 0, mesh, 0); });
    const auto columns = all_gather(mine, 1, mesh, 0);

    if (!is_on(mesh)) continue;
    EXPECT_THAT(message, HasSubstr("all_gather: expected the same extent of tensor dim 1 on mesh "
                                   "ranks 0 and 1"));
    EXPECT_EQ(columns.extent_int(1), 3 * mesh.size() + 1);
  }
}

TEST(ReduceScatter, gives_each_rank_its_chunk_of_the_sum) {
  for (const auto& mesh : lines()) {
    for (const std::int64_t rows : {8, 9, 10, 1, 0}) {
      const auto mine = iota_view<Matrix>({rows, 3});

      Traffic traffic;
      const auto chunk_of_sum = reduce_scatter(mine, ReduceOp::sum, 0, mesh, 0);

      EXPECT_EQ(traffic.exchanges(), communicates(mesh) && rows > 0 ? 1 : 0);
      EXPECT_EQ(traffic.metadata(), 0);
      if (!is_on(mesh)) continue;
      const auto part = chunk({0, rows}, mesh.size(), mesh.rank());
      EXPECT_EQ(wrong_element(chunk_of_sum, {{part.begin, 0}, {part.size(), 3}},
                              GlobalIndex({rows, 3}, mesh.size())),
                "");
    }
  }
}

TEST(ReduceScatter, is_one_exchange_also_where_one_rank_gets_all) {
  for (const auto& mesh : meshes_of({{2}, {4}})) {
    const auto mine = iota_view<Matrix>({1, 100'000});

    Traffic traffic;
    const auto sum = reduce_scatter(mine, ReduceOp::sum, 0, mesh, 0);

    EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(sum.extent_int(0), mesh.rank() == 0 ? 1 : 0);
    if (mesh.rank() != 0) continue;
    EXPECT_EQ(wrong_view(sum, {1, 100'000}, GlobalIndex({1, 100'000}, mesh.size())), "");
  }
}

TEST(ReduceScatter, several_mesh_dims_split_in_the_order_named) {
  for (const auto& mesh : grids()) {
    const int n = mesh.size();
    const auto mine = iota_view<Matrix>({n, 2});

    const auto row_major = reduce_scatter(mine, ReduceOp::max, 0, mesh, {0, 1});
    const auto reordered = reduce_scatter(mine, ReduceOp::max, 0, mesh, {1, 0});

    if (!is_on(mesh)) continue;
    const auto& at = *mesh.coordinate();
    const std::int64_t reordered_rank = at[1] * mesh.size(0) + at[0];
    EXPECT_EQ(wrong_element(row_major, {{mesh.rank(), 0}, {1, 2}}, GlobalIndex({n, 2})), "");
    EXPECT_EQ(wrong_element(reordered, {{reordered_rank, 0}, {1, 2}}, GlobalIndex({n, 2})), "");
  }
}

TEST(ReduceScatter, over_several_mesh_dims_chunks_as_over_one) {
  for (const auto& mesh : grids()) {
    const std::int64_t rows = 2 * mesh.size() + 2;
    const auto mine = iota_view<Matrix>({rows, 2});

    const auto part = reduce_scatter(mine, ReduceOp::max, 0, mesh, {0, 1});

    if (!is_on(mesh)) continue;
    const auto expected = chunk({0, rows}, mesh.size(), mesh.rank());
    EXPECT_EQ(
        wrong_element(part, {{expected.begin, 0}, {expected.size(), 2}}, GlobalIndex({rows, 2})),
        "");
  }
}

TEST(AllToAll, turns_rows_into_columns) {
  for (const auto& mesh : lines()) {
    for (const std::int64_t columns : {8, 9, 10, 1}) {
      const auto rows = [](int rank) { return std::int64_t{1 + rank % 2}; };
      const auto mine = rows_of_iota(mesh.size(), mesh.rank(), columns, rows);
      std::int64_t total = 0;
      for (int rank = 0; rank < mesh.size(); ++rank) total += rows(rank);

      Traffic traffic;
      const auto reordered = all_to_all(mine, 1, 0, mesh, 0);

      EXPECT_EQ(traffic.exchanges(), communicates(mesh) ? 1 : 0);
      EXPECT_EQ(traffic.metadata(), communicates(mesh) ? 1 : 0);
      if (!is_on(mesh)) continue;
      const auto part = chunk({0, columns}, mesh.size(), mesh.rank());
      EXPECT_EQ(wrong_element(reordered, {{0, part.begin}, {total, part.size()}},
                              GlobalIndex({total, columns})),
                "");
    }
  }
}

TEST(AllToAll, several_mesh_dims_come_in_the_order_named) {
  for (const auto& mesh : grids()) {
    const std::int64_t n = mesh.size();
    const auto& at = mesh.coordinate().value_or(std::vector{0, 0});
    const std::int64_t position = at[1] * mesh.size(0) + at[0];
    const auto mine = matrix(1, n);
    if (is_on(mesh)) fill_iota(mine, {position, 0}, {n, n});

    const auto reordered = all_to_all(mine, 1, 0, mesh, {"b", "a"});

    if (!is_on(mesh)) continue;
    EXPECT_EQ(wrong_element(reordered, {{0, position}, {n, 1}}, GlobalIndex({n, n})), "");
  }
}

TEST(AllToAll, along_one_dim_sends_chunk_i_to_rank_i) {
  for (const auto& mesh : lines()) {
    const int n = mesh.size();
    const auto mine = matrix(n, 2);
    if (is_on(mesh)) fill_iota(mine, {n * mesh.rank(), 0}, {n * n, 2});

    const auto mixed = all_to_all(mine, 0, 0, mesh, 0);

    if (!is_on(mesh)) continue;
    const GlobalIndex sent({n * n, 2});
    EXPECT_EQ(wrong_view(mixed, {n, 2},
                         [&](const Extents& i) {
                           return sent(Extents{n * i[0] + mesh.rank(), i[1]});
                         }),
              "");
  }
}

TEST(Broadcast, gives_everyone_the_view_of_the_root) {
  for (const auto& mesh : lines()) {
    for (const int root : {0, mesh.size() - 1}) {
      const auto mine = mesh.rank() == root ? iota_view<Matrix>({4, 3}) : Matrix();

      Traffic traffic;
      const auto all = broadcast(mine, root, mesh, 0);

      EXPECT_EQ(traffic.exchanges(), communicates(mesh) ? 1 : 0);
      EXPECT_EQ(traffic.metadata(), communicates(mesh) ? 1 : 0);
      if (!is_on(mesh)) continue;
      EXPECT_EQ(wrong_view(all, {4, 3}, GlobalIndex({4, 3})), "");
    }
  }
}

TEST(Broadcast, root_is_the_position_along_the_mesh_dims_named) {
  for (const auto& mesh : grids()) {
    const auto mine = constant(is_on(mesh) ? mesh.rank() : 0);
    const int last_b = mesh.size(1) - 1;

    const auto along_b = broadcast(mine, last_b, mesh, "b");
    const auto along_both = broadcast(mine, mesh.size() > 1 ? 1 : 0, mesh, {"b", "a"});

    if (!is_on(mesh)) continue;
    EXPECT_EQ(on_host(along_b)(0, 0), mesh.size(1) * (*mesh.coordinate())[0] + last_b);
    EXPECT_EQ(on_host(along_both)(0, 0), mesh.size() > 1 ? mesh.size(1) : 0);
  }
}

TEST(Collectives, with_an_instance_are_right_after_a_fence) {
  const Kokkos::DefaultExecutionSpace exec;
  for (const auto& mesh : lines()) {
    const int n = mesh.size();
    const auto mine = iota_view<Matrix>({n, 2});

    const auto sum = all_reduce(exec, mine, ReduceOp::sum, mesh, 0);
    const auto part = reduce_scatter(exec, mine, ReduceOp::sum, 0, mesh, 0);
    const auto all = all_gather(exec, part, 0, mesh, 0);
    const auto columns = all_to_all(exec, part, 1, 0, mesh, 0);
    const auto root = broadcast(exec, mine, 0, mesh, 0);
    exec.fence();

    if (!is_on(mesh)) continue;
    const Extents shape{n, 2};
    const auto part_of_columns = chunk({0, 2}, n, mesh.rank());
    EXPECT_EQ(wrong_view(sum, shape, GlobalIndex(shape, n)), "");
    EXPECT_EQ(wrong_view(all, shape, GlobalIndex(shape, n)), "");
    EXPECT_EQ(wrong_view(root, shape, GlobalIndex(shape)), "");
    EXPECT_EQ(wrong_element(columns, {{0, part_of_columns.begin}, {n, part_of_columns.size()}},
                            GlobalIndex(shape, n)),
              "");
  }
}

TEST(Collectives, result_of_a_const_view_can_be_written) {
  using Const = Kokkos::View<const double**, Kokkos::LayoutRight, TestSpace,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  for (const auto& mesh : lines()) {
    const auto memory = iota_view<Matrix>({3, 2});

    const auto sum = all_reduce(Const(memory), ReduceOp::sum, mesh, 0);

    static_assert(!std::is_const_v<decltype(sum)::value_type>);
    static_assert(!decltype(sum)::traits::memory_traits::is_unmanaged);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(wrong_view(sum, {3, 2}, GlobalIndex({3, 2}, mesh.size())), "");
  }
}

TEST(AllToAll, along_a_static_dim_that_the_ranks_do_not_divide_is_invalid) {
  using Five = Kokkos::View<double[5], TestSpace>;
  const auto mesh = mesh_of({world_size()});
  if (5 % mesh.size() == 0) return;

  EXPECT_THROW(all_to_all(Five("five"), 0, 0, mesh, 0), InvalidArgument);
}

TEST(Collectives, off_the_mesh_nothing_happens) {
  if (world_size() < 2) return;
  const auto mesh = mesh_of({1});
  if (is_on(mesh)) return;
  const auto mine = iota_view<Matrix>({2, 2});

  Traffic traffic;
  const auto sum = all_reduce(mine, ReduceOp::sum, mesh, 0);
  const auto all = all_gather(mine, 0, mesh, 0);
  const auto part = reduce_scatter(mine, ReduceOp::sum, 0, mesh, 0);
  const auto reordered = all_to_all(mine, 1, 0, mesh, 0);
  const auto root = broadcast(mine, 0, mesh, 0);

  EXPECT_EQ(sum.size() + all.size() + part.size() + reordered.size() + root.size(), 0u);
  EXPECT_EQ(traffic.exchanges() + traffic.metadata() + traffic.agreements(), 0);
}

}  // namespace
}  // namespace tessera::test
