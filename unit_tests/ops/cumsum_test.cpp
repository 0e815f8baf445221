// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "named.hpp"

namespace tessera::test {
namespace {

/// Returns the running sums of the elements of a tensor, row-major, along one dim.
template <class Sum, class T>
std::vector<Sum> running_sums(const std::vector<T>& values, const Extents& shape, std::size_t dim) {
  const auto step = static_cast<std::size_t>(row_major_strides(shape)[dim]);
  const auto extent = static_cast<std::size_t>(shape[dim]);
  std::vector<Sum> result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.push_back(static_cast<Sum>(values[i]));
    if (i / step % extent > 0) result[i] += result[i - step];
  }
  return result;
}

/// Gives small integers, also negative ones, by the row-major number of the element.
template <class T>
struct Small {
  std::int64_t columns;

  template <std::size_t N>
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, N>& index) const {
    std::int64_t at = index[0];
    if constexpr (N == 2) at = at * columns + index[1];
    return of(at);
  }
  KOKKOS_FUNCTION static T of(std::int64_t at) { return static_cast<T>((at * 37 + 5) % 101 - 20); }
};

template <class T>
std::vector<T> small_values(const Extents& shape) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < product(shape); ++i) result.push_back(Small<T>::of(i));
  return result;
}

template <class V>
DTensor<V> small(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  using T = typename V::value_type;
  return from_function<V>(mesh, target, shape, Small<T>{shape[shape.size() - 1]});
}

/// Returns the number of exchanges along a dim: 1 if ranks hold parts of it.
template <class V>
int exchanges_along(const DTensor<V>& x, int dim) {
  const auto& spec = x.spec();
  for (std::size_t m = 0; m < spec.placements().size(); ++m)
    if (spec.placements()[m].is_shard(dim) && spec.layout().shape()[m] > 1)
      return product(spec.shape()) > 0 ? 1 : 0;
  return 0;
}

/// Checks the running sums along all dims, and that only sums of runs are exchanged, once. The elements are
/// small integers, whose sums have no rounding errors.
template <class Sum, class V>
void expect_running_sums(const DTensor<V>& x,
                         const std::vector<std::remove_const_t<typename V::value_type>>& values) {
  for (int dim = 0; dim < static_cast<int>(V::rank()); ++dim) {
    const auto name = to_string(x.spec()) + " along dim " + std::to_string(dim);
    const Traffic traffic;
    const auto y = ops::cumsum(x, dim);
    const int exchanges = traffic.exchanges(), agreements = traffic.agreements();
    const auto sums = all_elements(y);
    static_assert(std::is_same_v<typename decltype(y)::view_type::value_type, Sum>);

    EXPECT_EQ(exchanges, exchanges_along(x, dim)) << name;
    if (exchanges == 0 && product(x.shape()) > 0) {
      EXPECT_EQ(agreements, 0) << name;
    }
    EXPECT_EQ(y.spec(), x.spec()) << name;
    EXPECT_EQ(sums, running_sums<Sum>(values, x.shape(), static_cast<std::size_t>(dim))) << name;
  }
}

template <class V>
void expect_running_sums(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  const auto values = small_values<double>(shape);
  expect_running_sums<double>(small<V>(mesh, target, shape), values);
}

/// Returns sizes of parts that add up to `extent`, the first one empty if there are several.
Sizes uneven(int dim, std::int64_t extent) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(world_size()), 0);
  auto rest = extent;
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i, --rest) {
    if (rest == 0) break;
    sizes[i] = 1;
  }
  sizes.back() = rest;
  return Sizes(dim, sizes);
}

TEST(Cumsum, of_vectors_under_all_rules) {
  for (const std::int64_t n : {0, 1, 5, 17, 64}) {
    std::vector<Target> targets{Shard(0),     Balanced(0), Cyclic(0, 1), Cyclic(0, 2),
                                Cyclic(0, 7), HeadTail(0), uneven(0, n), Replicate()};
    for (const auto& target : targets) expect_running_sums<Vector>(line(), target, {n});
  }
}

TEST(Cumsum, along_any_dim_under_all_rules_and_layouts) {
  for (const auto& shape : {Extents{5, 17}, Extents{17, 5}, Extents{1, 5}, Extents{5, 1},
                            Extents{0, 5}, Extents{5, 0}, Extents{3, 600}, Extents{600, 3}})
    for (const auto& mesh : line_and_grid()) {
      std::vector<Target> targets{
          Shard(0),           Shard(1),    Balanced(0), Balanced(1), Cyclic(0, 1),
          Cyclic(1, 2),       HeadTail(0), HeadTail(1), Replicate(), uneven(0, shape[0]),
          uneven(1, shape[1])};
      if (mesh.ndim() == 2)
        targets = {
            {Shard(0), Shard(1)},       {Shard(1), Shard(0)},           {Shard(0), Shard(0)},
            {Shard(1), Balanced(1)},    {{Shard(0), Shard(0)}, {1, 0}}, {Cyclic(1, 1), HeadTail(0)},
            {HeadTail(1), Balanced(0)}, {Cyclic(0, 2), Replicate()},    {Replicate(), Shard(0)}};
      for (const auto& target : targets) {
        expect_running_sums<Matrix>(mesh, target, shape);
        expect_running_sums<LeftMatrix>(mesh, target, shape);
      }
    }
}

TEST(Cumsum, of_nested_splits_of_a_vector) {
  for (const auto& mesh : line_and_grid()) {
    if (mesh.ndim() < 2) continue;
    for (const std::int64_t n : {0, 1, 5, 17})
      for (const Target& target : {Target{Shard(0), Shard(0)}, Target({Shard(0), Shard(0)}, {1, 0}),
                                   Target{Balanced(0), Shard(0)}})
        expect_running_sums<Vector>(mesh, target, {n});
  }
}

TEST(Cumsum, of_long_vectors_that_threads_share) {
  for (const Target& target :
       {Target(Shard(0)), Target(Cyclic(0, 1000)), Target(HeadTail(0)), Target(Replicate())})
    expect_running_sums<Vector>(line(), target, {300001});
  for (const Target& target : {Target(Shard(0)), Target(Shard(1)), Target(Cyclic(0, 64))}) {
    expect_running_sums<Matrix>(line(), target, {3, 70001});
    expect_running_sums<LeftMatrix>(line(), target, {3, 70001});
    expect_running_sums<Matrix>(line(), target, {70001, 3});
  }
}

TEST(Cumsum, of_three_dims) {
  using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
  using LeftCube = Kokkos::View<double***, Kokkos::LayoutLeft, TestSpace>;
  const Extents shape{4, 5, 6};
  std::vector<double> values;
  for (int i = 0; i < 120; ++i) values.push_back(i);
  for (const Target& target : {Target(Shard(0)), Target(Cyclic(1, 1)), Target(Balanced(2))}) {
    expect_running_sums<double>(iota<Cube>(line(), target, shape), values);
    expect_running_sums<double>(iota<LeftCube>(line(), target, shape), values);
  }
}

TEST(Cumsum, of_slices_and_transposed_tensors) {
  for (const Target& target : {Target(Shard(1)), Target(Cyclic(1, 2)), Target(HeadTail(1))}) {
    const auto x = iota<Matrix>(line(), target, {3, 19});
    const auto part = slice(x, all, {3, 16});
    std::vector<double> values;
    for (int i = 0; i < 3; ++i)
      for (int j = 3; j < 16; ++j) values.push_back(19 * i + j);
    const auto sums = all_elements(ops::cumsum(part, 1));
    const auto turned = all_elements(ops::cumsum(transpose(part), 0));
    std::vector<double> turned_values;
    for (int j = 3; j < 16; ++j)
      for (int i = 0; i < 3; ++i) turned_values.push_back(19 * i + j);

    EXPECT_EQ(sums, running_sums<double>(values, {3, 13}, 1)) << to_string(x.spec());
    EXPECT_EQ(turned, running_sums<double>(turned_values, {13, 3}, 0)) << to_string(x.spec());
  }
}

/// Checks vectors of an element type.
template <class T, class Sum>
void expect_type() {
  const Extents shape{17};
  for (const Target& target : {Target(Shard(0)), Target(Cyclic(0, 2)), Target(Replicate())})
    expect_running_sums<Sum>(small<VectorOf<T>>(line(), target, shape), small_values<T>(shape));
}

TEST(Cumsum, of_all_kinds_of_elements) {
  expect_type<std::int16_t, std::int64_t>();
  expect_type<std::int32_t, std::int64_t>();
  expect_type<std::int64_t, std::int64_t>();
  expect_type<std::uint8_t, std::uint64_t>();
  expect_type<std::uint32_t, std::uint64_t>();
  expect_type<std::uint64_t, std::uint64_t>();
  expect_type<float, float>();
  expect_type<double, double>();
  expect_type<Complex, Complex>();
}

TEST(Cumsum, of_small_integers_and_bool_does_not_wrap_around) {
  const auto x = full<VectorOf<std::int8_t>>(line(), Shard(0), {5}, -100);
  const auto flags = full<VectorOf<bool>>(line(), Shard(0), {5}, true);
  const auto sums = ops::cumsum(x, 0), counts = ops::cumsum(flags, 0);
  static_assert(std::is_same_v<decltype(sums)::view_type::value_type, std::int64_t>);
  static_assert(std::is_same_v<decltype(counts)::view_type::value_type, std::int64_t>);

  expect_elements(sums, ElementsAre(-100, -200, -300, -400, -500));
  expect_elements(counts, ElementsAre(1, 2, 3, 4, 5));
}

TEST(Cumsum, of_contributions_that_pass) {
  const double n = triangle();
  const auto sum = contributions<Vector>(ReduceOp::sum, {4});
  const auto average = contributions<Vector>(ReduceOp::avg, {4});
  const auto integers = contributions<VectorOf<std::int64_t>>(ReduceOp::sum, {4});
  const Traffic traffic;
  const auto a = ops::cumsum(sum, 0), b = ops::cumsum(average, 0);
  const auto c = ops::cumsum(integers, 0);

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(a.placements(), Placements{Partial()});
  EXPECT_EQ(b.placements(), Placements{Partial(ReduceOp::avg)});
  EXPECT_EQ(c.placements(), Placements{Partial()});
  expect_elements(reduce_partial(a), ElementsAre(0, n, 3 * n, 6 * n));
  const double mean = n / world_size();
  expect_elements(reduce_partial(b), ElementsAre(0, mean, 3 * mean, 6 * mean));
  expect_elements(reduce_partial(c), ElementsAre(0, triangle(), 3 * triangle(), 6 * triangle()));
}

TEST(Cumsum, of_contributions_that_are_reduced_first) {
  const auto most = contributions<Vector>(ReduceOp::max, {4});
  const auto integers = contributions<VectorOf<std::int32_t>>(ReduceOp::sum, {4});
  const Traffic traffic;
  const auto a = ops::cumsum(most, 0);
  const auto b = ops::cumsum(integers, 0);
  EXPECT_EQ(traffic.exchanges(), 2 * one());

  if (world_size() > 1) {
    EXPECT_EQ(a.placements(), Placements{Replicate()});
    EXPECT_EQ(b.placements(), Placements{Replicate()});
  }
  const double n = world_size();
  expect_elements(a, ElementsAre(0, n, 3 * n, 6 * n));
  expect_elements(b, ElementsAre(0, triangle(), 3 * triangle(), 6 * triangle()));
}

TEST(Cumsum, of_contributions_that_are_split_too) {
  for (const auto& mesh : line_and_grid()) {
    if (mesh.ndim() < 2) continue;
    const auto x = iota<Vector>(mesh, {Shard(0), Replicate()}, {7});
    const auto p = from_local(x.to_local(), mesh, {Shard(0), Partial()}, {7});
    const double n = mesh.shape()[1];
    const auto y = ops::cumsum(p, 0);

    EXPECT_EQ(y.placements(), (Placements{Shard(0), Partial()}));
    expect_elements(reduce_partial(y), ElementsAre(0, n, 3 * n, 6 * n, 10 * n, 15 * n, 21 * n));
  }
}

TEST(Cumsum, of_infinities_and_negative_zeros) {
  const auto x = listed<Vector>(line(), Shard(0), {4}, {1, infinity, 2, -infinity});
  const auto zeros = all_elements(ops::cumsum(full<Vector>(line(), Shard(0), {4}, -0.0), 0));
  const auto sums = all_elements(ops::cumsum(x, 0));

  EXPECT_EQ(sums[0], 1);
  EXPECT_EQ(sums[1], infinity);
  EXPECT_EQ(sums[2], infinity);
  EXPECT_TRUE(std::isnan(sums[3]));
  for (const auto zero : zeros) EXPECT_TRUE(std::signbit(zero));
}

TEST(Cumsum, of_views) {
  const auto view = iota_view<Matrix>({2, 3});
  const auto left = iota_view<LeftMatrix>({2, 3});
  const auto column = Kokkos::subview(view, Kokkos::ALL(), 1);

  EXPECT_THAT(elements_of(ops::cumsum(view, 0)), ElementsAre(0, 1, 2, 3, 5, 7));
  EXPECT_THAT(elements_of(ops::cumsum(view, -1)), ElementsAre(0, 1, 3, 3, 7, 12));
  EXPECT_THAT(elements_of(ops::cumsum(left, 0)), ElementsAre(0, 1, 2, 3, 5, 7));
  EXPECT_THAT(elements_of(ops::cumsum(left, 1)), ElementsAre(0, 1, 3, 3, 7, 12));
  EXPECT_THAT(elements_of(ops::cumsum(column, 0)), ElementsAre(1, 5));
}

TEST(Cumsum, on_an_instance) {
  const auto x = iota<Vector>(line(), Shard(0), {6});
  const TestSpace::execution_space instance;
  const auto y = ops::cumsum(instance, x, 0);
  instance.fence();

  expect_elements(y, ElementsAre(0, 1, 3, 6, 10, 15));
}

TEST(Cumsum, counts_dims_from_the_last_one) {
  const auto x = iota<Matrix>(line(), Shard(1), {2, 3});

  expect_elements(ops::cumsum(x, -1), ElementsAre(0, 1, 3, 3, 7, 12));
  expect_elements(ops::cumsum(x, -2), ElementsAre(0, 1, 2, 3, 5, 7));
}

TEST(Cumsum, dims_are_checked) {
  const auto x = iota<Matrix>(line(), Shard(0), {4, 4});

  EXPECT_THAT(invalid_argument_of([&] { ops::cumsum(x, 2); }),
              HasSubstr("cumsum: expected dims of a tensor with 2 dims, got 2"));
  EXPECT_THAT(invalid_argument_of([&] { ops::cumsum(x.to_local(), -3); }),
              HasSubstr("cumsum: expected dims of a tensor with 2 dims, got -3"));
}

TEST(Cumsum, does_not_reduce_contributions_where_that_is_forbidden) {
  const auto x = contributions<Vector>(ReduceOp::max, {4});
  const RedistributionScope none(Redistribution::none);
  if (world_size() == 1) return;

  EXPECT_THAT(message_of<PlacementMismatch>([&] { ops::cumsum(x, 0); }), HasSubstr("cumsum: "));
}

TEST(Cumsum, takes_the_rules_of_a_program) {
  register_sharding(ops::cumsum, [](const OperatorCall&) {
    return std::vector<OperatorRule>{{Replicate(), {Replicate()}}};
  });
  const auto x = iota<Vector>(line(), Shard(0), {4});
  const RedistributionScope any(Redistribution::any);
  const auto y = ops::cumsum(x, 0);
  unregister_sharding(ops::cumsum);

  EXPECT_EQ(y.placements(), Placements{Replicate()});
  expect_elements(y, ElementsAre(0, 1, 3, 6));
}

}  // namespace
}  // namespace tessera::test
