// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <vector>

#include "named.hpp"

namespace tessera::test {
namespace {

template <class T>
using HostVectorOf = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Indices = VectorOf<std::int32_t>;

/// Returns the elements, row-major, that take gives of a matrix of global indices.
std::vector<double> expected(const Extents& shape, const std::vector<std::int32_t>& indices,
                             int dim) {
  const auto extent = shape[static_cast<std::size_t>(dim)];
  const auto named = [&](std::size_t i) {
    return indices[i] < 0 ? indices[i] + extent : indices[i];
  };
  std::vector<double> result;
  const auto add = [&](std::int64_t row, std::int64_t column) {
    result.push_back(static_cast<double>(row * shape[1] + column));
  };
  if (dim == 0)
    for (std::size_t i = 0; i < indices.size(); ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j) add(named(i), j);
  else
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::size_t j = 0; j < indices.size(); ++j) add(i, named(j));
  return result;
}

/// Returns indices of an extent, some of which are negative or repeat.
std::vector<std::int32_t> some_indices(std::int64_t extent) {
  const auto n = static_cast<std::int32_t>(extent);
  return {n - 1, 0, -1, n / 2, -n, n - 1, 0};
}

std::vector<Target> matrix_targets(const DeviceMesh& mesh, std::int64_t rows) {
  if (mesh.ndim() == 2)
    return {{Shard(0), Shard(1)},          {Shard(1), Shard(0)},        {Shard(0), Shard(0)},
            {Cyclic(1, 1), HeadTail(0)},   {Replicate(), Cyclic(0, 1)}, {Shard(1), Replicate()},
            {{Shard(0), Shard(0)}, {1, 0}}};
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(world_size()), 0);
  sizes.back() = rows;
  return {Shard(0),     Shard(1),    Balanced(0), Balanced(1), Cyclic(0, 1),   Cyclic(0, 2),
          Cyclic(1, 2), HeadTail(0), HeadTail(1), Replicate(), Sizes(0, sizes)};
}

template <class V>
void expect_taken(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  const auto table = iota<V>(mesh, target, shape);
  for (const int dim : {0, 1}) {
    const auto list = some_indices(shape[static_cast<std::size_t>(dim)]);
    const auto indices = listed<Indices>(mesh, all_replicate, {7}, list);
    const Traffic traffic;
    const auto taken = ops::take(table, indices, dim);
    const auto exchanges = traffic.exchanges();
    const auto elements = all_elements(taken);
    const auto name = to_string(table.spec()) + " along dim " + std::to_string(dim);

    EXPECT_EQ(exchanges, 0) << name;
    EXPECT_EQ(elements, expected(shape, list, dim)) << name;
    for (int m = 0; m < mesh.ndim(); ++m) {
      const auto& before = table.placements()[static_cast<std::size_t>(m)];
      const auto& after = taken.placements()[static_cast<std::size_t>(m)];
      EXPECT_EQ(after, before.is_shard(dim) ? Placement(Partial()) : before) << name;
    }
  }
}

TEST(Take, rows_and_columns_under_all_rules_and_layouts) {
  for (const auto& shape : {Extents{6, 5}, Extents{7, 3}, Extents{1, 4}, Extents{11, 1}})
    for (const auto& mesh : line_and_grid())
      for (const auto& target : matrix_targets(mesh, shape[0])) {
        expect_taken<Matrix>(mesh, target, shape);
        expect_taken<LeftMatrix>(mesh, target, shape);
      }
}

TEST(Take, o8_gives_contributions_that_travel_where_they_are_reduced) {
  const auto mesh = mesh_of({3});
  if (mesh.is_null()) GTEST_SKIP() << "needs 3 ranks";
  const auto table = iota<Matrix>(mesh, Shard(0), {6, 2});
  const auto indices = listed<VectorOf<std::int64_t>>(mesh, Replicate(), {3}, {5, 0, 5});
  const Traffic traffic;
  const auto rows = ops::take(table, indices);
  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  EXPECT_EQ(rows.placements(), Placements{Partial()});
  EXPECT_EQ(rows.shape(), (Extents{3, 2}));
  if (is_on(mesh)) {
    const std::vector<std::vector<double>> mine{
        {0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 0}, {10, 11, 0, 0, 10, 11}};
    EXPECT_EQ(elements_of(rows.to_local()),
              mine[static_cast<std::size_t>((*mesh.coordinate())[0])]);
  }

  const Traffic reduction;
  const auto reduced = reduce_partial(rows);
  EXPECT_EQ(reduction.exchanges(), is_on(mesh) ? 1 : 0);
  if (is_on(mesh)) {
    EXPECT_THAT(elements_of(reduced.to_local()), ElementsAre(10, 11, 0, 1, 10, 11));
  }
}

TEST(Take, indices_that_are_split_split_the_result) {
  for (const Placement& placement :
       {Placement(Shard(0)), Placement(Balanced(0)), Placement(Cyclic(0, 2)),
        Placement(HeadTail(0)), Placement(Replicate())}) {
    const Extents shape{5, 4};
    const auto table = iota<Matrix>(line(), Replicate(), shape);
    for (const int dim : {0, 1}) {
      const auto list = some_indices(shape[static_cast<std::size_t>(dim)]);
      const auto indices = listed<Indices>(line(), {placement}, {7}, list);
      const Traffic traffic;
      const auto taken = ops::take(table, indices, dim - 2);
      EXPECT_EQ(traffic.exchanges(), 0);
      const auto elements = all_elements(taken);

      EXPECT_EQ(elements, expected(shape, list, dim));
      EXPECT_EQ(taken.placements()[0], placement.is_shard() ? placement.with_dim(dim) : placement);
    }
  }
}

TEST(Take, a_table_and_indices_are_split_along_different_mesh_dims) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 4 ranks";
  const auto table = iota<Matrix>(mesh, {Shard(0), Replicate()}, {5, 3});
  const auto list = some_indices(5);
  const auto indices = listed<Indices>(mesh, {Replicate(), Shard(0)}, {7}, list);
  const Traffic traffic;
  const auto taken = ops::take(table, indices);
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto elements = all_elements(taken);

  EXPECT_EQ(taken.placements(), (Placements{Partial(), Shard(0)}));
  EXPECT_EQ(elements, expected({5, 3}, list, 0));
}

TEST(Take, indices_of_any_number_of_dims) {
  const auto columns = listed<MatrixOf<std::int64_t>>(line(), Shard(1), {2, 2}, {2, 0, -2, 2});
  const auto table = iota<Matrix>(line(), Replicate(), {4, 3});
  const auto cube = ops::take(table, columns, 1);
  const auto of_columns = all_elements(cube);
  std::vector<double> wanted;
  for (const double row : {0, 1, 2, 3})
    for (const double column : {2, 0, 1, 2}) wanted.push_back(3 * row + column);

  EXPECT_EQ(cube.shape(), (Extents{4, 2, 2}));
  EXPECT_EQ(cube.placements(), Placements{Shard(2)});
  EXPECT_EQ(of_columns, wanted);

  const auto left = iota<LeftMatrix>(line(), Shard(1), {4, 3});
  const auto rows =
      listed<MatrixOf<std::int64_t, Kokkos::LayoutLeft>>(line(), Replicate(), {2, 1}, {3, 1});
  const auto taken = ops::take(left, rows);
  const auto of_rows = all_elements(taken);
  EXPECT_EQ(taken.shape(), (Extents{2, 1, 3}));
  EXPECT_EQ(taken.placements(), Placements{Shard(2)});
  EXPECT_THAT(of_rows, ElementsAre(9, 10, 11, 3, 4, 5));

  const Kokkos::View<int, Kokkos::LayoutRight, TestSpace> one_index("one_index");
  change_on_host(one_index, [](const auto& host) { host() = -2; });
  const auto element =
      ops::take(iota<Vector>(line(), Shard(0), {9}), ImplicitReplication(line())(one_index));
  const auto value = item(element);
  EXPECT_EQ(value, 7);
}

template <class T>
void expect_indices_of_type() {
  const auto table = iota<Vector>(line(), Cyclic(0, 1), {9});
  const auto last = std::is_signed_v<T> ? static_cast<T>(-9) : T(1);
  const auto indices = listed<VectorOf<T>>(line(), Replicate(), {4}, {T(8), T(0), T(3), last});
  const auto elements = all_elements(ops::take(table, indices));
  EXPECT_THAT(elements, ElementsAre(8, 0, 3, std::is_signed_v<T> ? 0 : 1));
}

TEST(Take, indices_of_all_integer_types) {
  expect_indices_of_type<std::int8_t>();
  expect_indices_of_type<std::int16_t>();
  expect_indices_of_type<std::int32_t>();
  expect_indices_of_type<std::int64_t>();
  expect_indices_of_type<long long>();
  expect_indices_of_type<std::uint8_t>();
  expect_indices_of_type<std::uint16_t>();
  expect_indices_of_type<std::uint32_t>();
  expect_indices_of_type<std::uint64_t>();
}

template <class T>
void expect_elements_of_type() {
  const auto table = to<VectorOf<T>>(iota<Vector>(line(), Shard(0), {7}));
  const auto indices = listed<Indices>(line(), Replicate(), {3}, {6, 2, -7});
  const auto taken = ops::take(table, indices);
  const auto elements = all_elements(taken);
  EXPECT_THAT(elements, ElementsAre(T(6), T(2), T(0)));
}

TEST(Take, elements_of_all_sizes) {
  expect_elements_of_type<std::int8_t>();
  expect_elements_of_type<std::uint16_t>();
  expect_elements_of_type<float>();
  expect_elements_of_type<std::int64_t>();
  expect_elements_of_type<Complex>();
}

TEST(Take, contributions_of_bool_are_combined_by_or) {
  const auto table = listed<VectorOf<bool>>(line(), Shard(0), {4}, {true, false, false, true});
  const auto indices = listed<Indices>(line(), Replicate(), {3}, {3, 1, 0});
  const auto taken = ops::take(table, indices);
  const auto elements = all_elements(taken);

  EXPECT_EQ(taken.placements(), Placements{Partial(ReduceOp::bor)});
  EXPECT_THAT(elements, ElementsAre(1, 0, 1));
}

/// Holds an element that no operation combines.
struct Triple {
  std::int32_t values[3];
};

TEST(Take, elements_that_cannot_be_added_are_taken_where_their_table_is_whole) {
  const auto table = full<VectorOf<Triple>>(line(), Shard(0), {4}, Triple{{1, 2, 3}});
  const auto indices = listed<Indices>(line(), Replicate(), {2}, {3, 0});
  const auto whole = redistribute(table, {Replicate()});
  const auto taken = elements_of(ops::take(whole, indices).to_local());

  ASSERT_EQ(taken.size(), 2);
  for (const auto& element : taken) EXPECT_THAT(element.values, ElementsAre(1, 2, 3));
  if (world_size() > 1) {
    EXPECT_THAT(message_of<PlacementMismatch>([&] { ops::take(table, indices); }),
                HasSubstr("take: expected placements that fit: x is S(0), y is R"));
  }
}

TEST(Take, any_contributions_to_a_table_stay_what_they_are) {
  const auto indices = listed<Indices>(line(), Replicate(), {3}, {5, 1, 5});
  const auto n = static_cast<double>(world_size());
  const auto expect = [&](ReduceOp op, double factor) {
    const auto table = contributions<Vector>(op, {6});
    const Traffic traffic;
    const auto taken = ops::take(table, indices);
    EXPECT_EQ(traffic.exchanges(), 0);
    const auto elements = all_elements(taken);

    EXPECT_EQ(taken.placements(), Placements{Partial(op)});
    using testing::DoubleEq;
    EXPECT_THAT(elements,
                ElementsAre(DoubleEq(5 * factor), DoubleEq(factor), DoubleEq(5 * factor)));
  };
  expect(ReduceOp::sum, triangle());
  expect(ReduceOp::avg, (n + 1) / 2);
  expect(ReduceOp::min, 1);
  expect(ReduceOp::max, n);
}

TEST(Take, contributions_to_indices_are_reduced_first) {
  const auto indices = contributions<Indices>(ReduceOp::max, {3});
  const auto table = iota<Vector>(line(), Replicate(), {9});
  const Traffic traffic;
  const auto taken = ops::take(table, indices);
  EXPECT_EQ(traffic.exchanges(), one());
  const auto elements = all_elements(taken);

  EXPECT_THAT(elements, ElementsAre(0, world_size(), 2 * world_size()));
}

TEST(Take, a_table_and_indices_that_one_mesh_dim_splits_move_only_where_it_is_allowed) {
  const auto table = iota<Matrix>(line(), Shard(0), {6, 2});
  const auto list = some_indices(6);
  const auto indices = listed<Indices>(line(), Shard(0), {7}, list);
  if (world_size() > 1) {
    EXPECT_THAT(message_of<PlacementMismatch>([&] { ops::take(table, indices); }),
                HasSubstr("take: expected placements that fit: x is S(0), y is S(0)"));
  }
  const RedistributionScope any(Redistribution::any);
  const auto elements = all_elements(ops::take(table, indices));

  EXPECT_EQ(elements, expected({6, 2}, list, 0));
}

TEST(Take, nothing_of_a_table_and_of_no_elements) {
  const auto table = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto none = zeros<Indices>(line(), Replicate(), {0});
  const auto nothing = ops::take(table, none), columns = ops::take(table, none, 1);
  const auto of_empty = ops::take(zeros<Matrix>(line(), Shard(0), {0, 3}), none);
  const auto empty_rows = ops::take(zeros<Matrix>(line(), Shard(0), {4, 0}),
                                    full<Indices>(line(), Replicate(), {2}, 3));

  EXPECT_EQ(nothing.shape(), (Extents{0, 3}));
  EXPECT_EQ(columns.shape(), (Extents{5, 0}));
  EXPECT_EQ(of_empty.shape(), (Extents{0, 3}));
  EXPECT_EQ(empty_rows.shape(), (Extents{2, 0}));
}

TEST(Take, of_views_and_with_an_instance) {
  const auto whole = iota_view<Matrix>({4, 6});
  const auto table = Kokkos::subview(whole, Kokkos::ALL(), std::pair(1, 4));
  const Indices indices("indices", 2);
  change_on_host(indices, [](const auto& host) {
    host(0) = 2;
    host(1) = -1;
  });
  const auto rows = ops::take(table, indices);
  const auto columns = ops::take(Kokkos::DefaultExecutionSpace(), table, indices, -1);
  Kokkos::fence();

  EXPECT_THAT(elements_of(rows), ElementsAre(13, 14, 15, 19, 20, 21));
  EXPECT_THAT(elements_of(columns), ElementsAre(3, 3, 9, 9, 15, 15, 21, 21));

  const auto tensor = iota<Vector>(line(), Replicate(), {5});
  const auto taken =
      ops::take(Kokkos::DefaultExecutionSpace(), tensor, ImplicitReplication(line())(indices));
  Kokkos::fence();
  EXPECT_THAT(elements_of(taken.to_local()), ElementsAre(2, 4));
}

/// Gives indices of an extent in no order, about half of them negative.
struct ScatteredIndices {
  std::int64_t extent;

  KOKKOS_FUNCTION std::int32_t operator()(const Kokkos::Array<std::int64_t, 1>& index) const {
    const auto positive = index[0] * 7919 % extent;
    return static_cast<std::int32_t>(index[0] % 2 == 0 ? positive : positive - extent);
  }
};

TEST(Take, many_rows_are_shared_among_threads) {
  const Extents shape{997, 40};
  const ScatteredIndices scattered{shape[0]};
  std::vector<std::int32_t> list;
  for (std::int64_t i = 0; i < 3000; ++i) list.push_back(scattered({i}));
  const auto wanted = expected(shape, list, 0);
  const auto indices = from_function<Indices>(line(), Replicate(), {3000}, scattered);
  for (const Target& target : {Target(Shard(0)), Target(Cyclic(0, 8)), Target(Shard(1))}) {
    const auto rows = all_elements(ops::take(iota<Matrix>(line(), target, shape), indices));
    const auto left_rows =
        all_elements(ops::take(iota<LeftMatrix>(line(), target, shape), indices));
    EXPECT_TRUE(rows == wanted);
    EXPECT_TRUE(left_rows == wanted) << "in LayoutLeft";
  }
}

TEST(Take, dims_and_indices_are_checked) {
  const auto table = iota<HostMatrix>(line(), Shard(0), {6, 2});
  const auto with = [&]<class T>(const std::vector<T>& values) {
    const auto indices = listed<HostVectorOf<T>>(
        line(), Replicate(), {static_cast<std::int64_t>(values.size())}, values);
    return invalid_argument_of([&] { ops::take(table, indices); });
  };
  const auto too_large = with(std::vector<int>{5, 7, 8}),
             too_small = with(std::vector<int>{-6, -7});
  const auto huge = with(std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()});
  const auto dim = invalid_argument_of(
      [&] { ops::take(table, zeros<HostVectorOf<int>>(line(), Replicate(), {1}), 2); });
  const HostVectorOf<double> no_elements("no_elements", 0);
  const HostVectorOf<int> first("first", 1);
  const auto of_nothing = invalid_argument_of([&] { ops::take(no_elements, first); });

  EXPECT_EQ(too_large, "take: expected an index in [-6, 6), got 7");
  EXPECT_EQ(too_small, "take: expected an index in [-6, 6), got -7");
  EXPECT_EQ(huge, "take: expected an index in [-6, 6), got 18446744073709551615");
  EXPECT_EQ(dim, "take: expected dims of a tensor with 2 dims, got 2");
  EXPECT_EQ(of_nothing, "take: expected an index in [0, 0), got 0");
}

TEST(Take, an_index_out_of_range_is_an_error_of_the_rank_that_has_it) {
  const auto table = iota<HostMatrix>(line(), Replicate(), {4, 2});
  std::vector<int> list(static_cast<std::size_t>(world_size()), 0);
  list[0] = 4;
  const auto indices = listed<HostVectorOf<int>>(line(), Shard(0), {world_size()}, list);
  const auto message = invalid_argument_of([&] { ops::take(table, indices); });

  EXPECT_EQ(message, world_rank() == 0 ? "take: expected an index in [-4, 4), got 4" : "no error");
}

TEST(Take, takes_the_rules_of_a_program) {
  register_sharding(ops::take, [](const OperatorCall&) {
    return std::vector<OperatorRule>{{Replicate(), {Replicate(), Replicate()}}};
  });
  const auto table = iota<Matrix>(line(), Shard(0), {6, 2});
  const auto indices = listed<Indices>(line(), Replicate(), {2}, {5, 0});
  const RedistributionScope any(Redistribution::any);
  const auto taken = ops::take(table, indices);
  unregister_sharding(ops::take);

  EXPECT_EQ(taken.placements(), Placements{Replicate()});
  EXPECT_THAT(elements_of(taken.to_local()), ElementsAre(10, 11, 0, 1));
}

}  // namespace
}  // namespace tessera::test
