// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/kokkos_events.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class T, class Layout = Kokkos::LayoutRight>
using MatrixOf = Kokkos::View<T**, Layout, TestSpace>;
template <class T>
using VectorOf = Kokkos::View<T*, Kokkos::LayoutRight, TestSpace>;
template <class T>
using ScalarOf = Kokkos::View<T, Kokkos::LayoutRight, TestSpace>;
using Complex = Kokkos::complex<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

DeviceMesh line() {
  return mesh_of({world_size()});
}

/// Returns a line of all ranks, and a grid of them if their number is even.
std::vector<DeviceMesh> line_and_grid() {
  std::vector<DeviceMesh> result{line()};
  if (world_size() % 2 == 0) result.push_back(mesh_of({2, world_size() / 2}));
  return result;
}

/// Returns the number of exchanges of what needs one where there are several ranks.
int one() {
  return world_size() > 1 ? 1 : 0;
}

/// Returns 1 + 2 + … + the number of ranks.
int triangle() {
  return world_size() * (world_size() + 1) / 2;
}

/// Returns a tensor on the line to which rank r contributes (r + 1) times the global index.
template <class V>
DTensor<V> contributions(ReduceOp op, const Extents& shape) {
  const auto mine = detail::allocate<V>(shape, "contributions");
  change_on_host(mine, [&](const auto& host) {
    const GlobalIndex index(shape, world_rank() + 1);
    for_each_index_in({Extents::filled(shape.size(), 0), shape}, [&](const Extents& at) {
      element_of(host, Extents::filled(shape.size(), 0), at) =
          static_cast<typename V::value_type>(index(at));
    });
  });
  return from_local(mine, line(), Partial(op), shape);
}

/// Gives elements of a list, row-major.
template <class T>
struct Listed {
  Kokkos::Array<T, 64> values{};
  std::int64_t columns = 1;

  template <std::size_t N>
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, N>& index) const {
    std::int64_t at = 0;
    if constexpr (N == 1) at = index[0];
    if constexpr (N == 2) at = index[0] * columns + index[1];
    return values[static_cast<std::size_t>(at)];
  }
};

/// Returns a tensor with these elements, row-major.
template <class V>
DTensor<V> listed(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                  const std::vector<typename V::value_type>& values) {
  Listed<typename V::value_type> list;
  list.columns = shape.size() < 2 ? 1 : shape[1];
  for (std::size_t i = 0; i < values.size(); ++i) list.values[i] = values[i];
  return from_function<V>(mesh, target, shape, list);
}

/// Returns the elements of a View, row-major.
template <class V>
auto elements_of(const V& view) {
  using T = std::remove_const_t<typename V::value_type>;
  std::vector<std::conditional_t<std::is_same_v<T, bool>, int, T>> result;
  const auto shape = detail::extents_of(view);
  const auto host = on_host(view);
  for_each_index_in({Extents::filled(shape.size(), 0), shape}, [&](const Extents& index) {
    result.push_back(element_of(host, Extents::filled(shape.size(), 0), index));
  });
  return result;
}

/// Returns all elements of a tensor, row-major. Collective.
template <class V>
auto all_elements(const DTensor<V>& tensor) {
  return elements_of(full_tensor(tensor));
}

/// Checks all elements of a tensor, row-major. Collective.
template <class V, class Matcher>
void expect_elements(const DTensor<V>& tensor, const Matcher& matcher,
                     const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const auto elements = all_elements(tensor);
  const testing::ScopedTrace trace(file, line, "called here");
  EXPECT_THAT(elements, matcher);
}

/// Returns the records of operators.
std::vector<CommRecord> operators_in(const CommDebugMode& mode) {
  std::vector<CommRecord> result;
  for (const auto& record : mode.records())
    if (record.kind == TraceKind::operation) result.push_back(record);
  return result;
}

// --- cases of the acceptance list ----------------------------------------------------------------

TEST(Operators, o1_a_number_added_to_a_sum_counts_once) {
  const auto x = iota<Vector>(line(), Shard(0), {10});
  const Traffic traffic;
  const auto sum_of_more = ops::sum(x + 10);
  const auto more_than_sum = ops::sum(x) + 10;
  const auto less_than_sum = 10 - ops::sum(x);
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto [a, b, c] = items(sum_of_more, more_than_sum, less_than_sum);

  EXPECT_EQ(a, 145);
  EXPECT_EQ(b, 55);
  EXPECT_EQ(c, -35);
}

TEST(Operators, o5_mean_over_uneven_shards_is_not_the_mean_of_means) {
  const auto mean = ops::mean(iota<Vector>(line(), Shard(0), {7}));
  const auto value = item(mean);

  EXPECT_EQ(value, 3);
}

TEST(Operators, o6_least_element_with_empty_shards) {
  const auto x = listed<Vector>(line(), Shard(0), {2}, {5, 3});
  const auto n = listed<VectorOf<std::int32_t>>(line(), Shard(0), {1}, {-7});
  const auto [least, most, least_integer, most_integer] =
      items(ops::min(x), ops::max(x), ops::min(n), ops::max(n));

  EXPECT_EQ(least, 3);
  EXPECT_EQ(most, 5);
  EXPECT_EQ(least_integer, -7);
  EXPECT_EQ(most_integer, -7);
}

TEST(Operators, o7_sums_not_yet_reduced_are_reduced_only_where_the_operator_is_not_linear) {
  const auto p = contributions<Vector>(ReduceOp::sum, {6});
  const double n = triangle();
  const Traffic added;
  const auto more = p + 2.0;
  EXPECT_EQ(added.exchanges(), 0);
  EXPECT_EQ(more.placements(), Placements{Partial()});
  const Traffic multiplied;
  const auto product = p * p;
  EXPECT_EQ(multiplied.exchanges(), one());
  const Traffic reduced;
  const auto most = ops::max(p);
  EXPECT_EQ(reduced.exchanges(), one());

  const auto sums = all_elements(more);
  const auto products = all_elements(product);
  const auto largest = item(most);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto value = n * static_cast<double>(i);
    EXPECT_EQ(sums[i], value + 2);
    EXPECT_EQ(products[i], value * value);
  }
  EXPECT_EQ(largest, 5 * n);
}

TEST(Operators, o9_columns_become_rows_of_another_shape) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(mesh, Shard(1), {12, 8});
  const Traffic traffic;
  const auto y = reshape(x, {16, 6});

  EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
  EXPECT_EQ(traffic.bytes_received(), is_on(mesh) ? 24 * 8 : 0);
  EXPECT_EQ(y.placements(), Placements{Shard(0)});
  EXPECT_EQ(y.to_local().extent(0), is_on(mesh) ? 8 : 0);
  EXPECT_EQ(wrong_iota(y), "");
}

TEST(Operators, o11_operands_that_do_not_fit_move_only_where_it_is_allowed) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(mesh, Shard(0), {4, 4});
  const auto y = iota<Matrix>(mesh, Shard(1), {4, 4});
  const auto refused = message_of<PlacementMismatch>([&] { x + y; });
  EXPECT_EQ(refused,
            "operator+: expected placements that fit: x is S(0), y is S(1) on (2); write "
            "redistribute(y, {Shard(0)}) (32 B received per rank), or allow it by "
            "RedistributionScope(Redistribution::any)");

  const CommDebugMode mode;
  const Traffic traffic;
  const RedistributionScope scope(Redistribution::any);
  const auto sum = x + y;
  EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
  EXPECT_EQ(traffic.bytes_received(), is_on(mesh) ? 32 : 0);
  EXPECT_EQ(traffic.bytes_sent(), is_on(mesh) ? 32 : 0);
  EXPECT_EQ(sum.placements(), Placements{Shard(0)});
  EXPECT_EQ(wrong_iota(sum, 2), "");
  const auto records = operators_in(mode);
  ASSERT_EQ(records.size(), 1);
  EXPECT_TRUE(records[0].is_implicit);
  EXPECT_FALSE(records[0].is_trivial);
}

TEST(Operators, o11_what_is_replicated_is_sliced_unless_the_scope_is_strict) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 4});
  const auto y = iota<Matrix>(line(), Replicate(), {5, 4});
  const Traffic traffic;
  const auto sum = x + y;
  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(sum.placements(), Placements{Shard(0)});
  EXPECT_EQ(wrong_iota(sum, 2), "");

  const RedistributionScope scope(Redistribution::none);
  const auto refused = message_of<PlacementMismatch>([&] { x + y; });
  if (world_size() > 1) {
    EXPECT_EQ(refused, "operator+: expected placements that fit: x is S(0), y is R on (" +
                           std::to_string(world_size()) +
                           "); write redistribute(y, {Shard(0)}) (0 B received per rank), or allow "
                           "it by RedistributionScope(Redistribution::local)");
  } else {
    EXPECT_EQ(refused, "no error");
  }
}

TEST(Operators, o12_what_is_replicated_counts_once) {
  const auto x = ones<Vector>(line(), Replicate(), {8});
  const Traffic traffic;
  const auto twice = x + x;
  const auto sum = ops::sum(x);
  const auto value = item(sum);

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(twice.placements(), Placements{Replicate()});
  EXPECT_EQ(sum.placements(), Placements{Replicate()});
  EXPECT_EQ(value, 8);
  EXPECT_EQ(elements_of(twice.to_local()), std::vector<double>(8, 2));
}

// --- right where others are silently wrong -------------------------------------------------------

TEST(Operators, of_integers_the_mean_is_a_fraction) {
  const auto x = listed<VectorOf<std::int32_t>>(line(), Shard(0), {4}, {1, 2, 2, 5});
  const auto mean = ops::mean(x);
  static_assert(std::is_same_v<decltype(mean)::view_type::value_type, double>);
  const auto value = item(mean);

  EXPECT_EQ(value, 2.5);
}

TEST(Operators, sums_of_small_integers_do_not_wrap_around) {
  const auto x = full<VectorOf<std::int8_t>>(line(), Shard(0), {5}, 100);
  const auto flags = full<VectorOf<bool>>(line(), Shard(0), {5}, true);
  const auto [sum, count, product] = items(ops::sum(x), ops::sum(flags), ops::product(x));
  static_assert(std::is_same_v<decltype(sum), const std::int64_t>);

  EXPECT_EQ(sum, 500);
  EXPECT_EQ(count, 5);
  EXPECT_EQ(product, 10000000000);
}

TEST(Operators, contributions_of_small_integers_wrap_around_before_they_are_summed_up) {
  const auto x = from_local(full<VectorOf<std::int8_t>>(line(), Replicate(), {2}, 100).to_local(),
                            line(), Partial(), {2});
  const auto expected = 2 * std::int64_t{static_cast<std::int8_t>(100 * world_size())};
  const auto sum = item(ops::sum(x));

  EXPECT_EQ(sum, expected);
}

TEST(Operators, contributions_of_integers_do_not_become_fractions) {
  const auto x = contributions<VectorOf<std::int64_t>>(ReduceOp::sum, {4});
  const auto refused = invalid_argument_of([&] { to<double>(x); });

  EXPECT_THAT(refused, HasSubstr("to: "));
}

TEST(Operators, what_is_not_linear_in_the_element_type_reduces_first) {
  const auto p = contributions<Vector>(ReduceOp::sum, {5});
  const auto r = full<Vector>(line(), Replicate(), {5}, infinity);
  const Traffic traffic;
  const auto by_tensor = p * r;
  const auto by_zero = p / 0.0;
  const auto by_infinity = p * infinity;
  EXPECT_EQ(traffic.exchanges(), 3 * one());
  const Traffic linear;
  const auto by_number = -(p * 2.0 - p) / 4.0;
  EXPECT_EQ(linear.exchanges(), 0);
  EXPECT_EQ(by_number.placements(), Placements{Partial()});

  for (const auto& values :
       {all_elements(by_tensor), all_elements(by_zero), all_elements(by_infinity)}) {
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], infinity);
  }
  const auto values = all_elements(by_number);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], -0.25 * triangle() * static_cast<double>(i));
}

TEST(Operators, contributions_and_replicas_add_up) {
  const auto p = contributions<Vector>(ReduceOp::sum, {5});
  const auto r = iota<Vector>(line(), Replicate(), {5});
  const Traffic traffic;
  const auto sum = p + r;
  const auto difference = axpby(2, r, -1, p);
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto sums = all_elements(sum);
  const auto differences = all_elements(difference);

  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], (triangle() + 1.0) * static_cast<double>(i));
    EXPECT_EQ(differences[i], (2.0 - triangle()) * static_cast<double>(i));
  }
}

TEST(Operators, averages_and_extremes_pass_through_what_keeps_them) {
  const auto average = contributions<Vector>(ReduceOp::avg, {4});
  const auto most = contributions<Vector>(ReduceOp::max, {4});
  const Traffic traffic;
  const auto a = average + 1.0;
  const auto b = ops::exp(most) + 1.0;
  const auto c = -most;
  const auto d = ops::maximum(most, most);
  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(a.placements(), Placements{Partial(ReduceOp::avg)});
  EXPECT_EQ(b.placements(), Placements{Partial(ReduceOp::max)});
  EXPECT_EQ(c.placements(), Placements{Partial(ReduceOp::min)});
  EXPECT_EQ(d.placements(), Placements{Partial(ReduceOp::max)});
  const auto as = all_elements(a), bs = all_elements(b), cs = all_elements(c);

  for (std::size_t i = 0; i < as.size(); ++i) {
    const auto index = static_cast<double>(i);
    EXPECT_DOUBLE_EQ(as[i], 1 + index * (world_size() + 1) / 2);
    EXPECT_DOUBLE_EQ(bs[i], 1 + std::exp(index * world_size()));
    EXPECT_EQ(cs[i], -index * world_size());
  }
}

/// Returns the position of the largest, or least, of some elements; see ops::argmax.
std::int64_t expected_position(const std::vector<double>& values, bool is_max) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (std::isnan(values[best])) break;
    const bool is_better = is_max ? values[i] > values[best] : values[i] < values[best];
    if (is_better || std::isnan(values[i])) best = i;
  }
  return static_cast<std::int64_t>(best);
}

struct Positions {
  std::vector<std::int64_t> of_all, of_columns, of_rows;

  friend bool operator==(const Positions&, const Positions&) = default;
};

Positions expected_positions(const std::vector<double>& values, std::size_t rows,
                             std::size_t columns, bool is_max) {
  Positions result{{expected_position(values, is_max)}, {}, {}};
  for (std::size_t j = 0; j < columns; ++j) {
    std::vector<double> column;
    for (std::size_t i = 0; i < rows; ++i) column.push_back(values[i * columns + j]);
    result.of_columns.push_back(expected_position(column, is_max));
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * columns);
    result.of_rows.push_back(
        expected_position({begin, begin + static_cast<std::ptrdiff_t>(columns)}, is_max));
  }
  return result;
}

template <class Op, class V>
Positions positions_of(const Op& op, const DTensor<V>& x) {
  return {all_elements(op(x)), all_elements(op(x, 0)), all_elements(op(x, KeepDims{-1}))};
}

/// Checks argmin and argmax of a matrix under many placements.
void expect_positions(std::size_t rows, std::size_t columns, const std::vector<double>& values) {
  const Extents shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
  const auto most = expected_positions(values, rows, columns, true);
  const auto least = expected_positions(values, rows, columns, false);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(world_size()), 0);
  sizes.back() = shape[0];
  for (const auto& mesh : line_and_grid()) {
    std::vector<Target> targets{Shard(0),        Shard(1),     Balanced(0),  Balanced(1),
                                Cyclic(0, 1),    Cyclic(1, 2), Cyclic(0, 2), HeadTail(1),
                                Sizes(0, sizes), Replicate()};
    if (mesh.ndim() == 2)
      targets = {{Shard(0), Shard(0)},          {Shard(0), Shard(1)},
                 {Cyclic(1, 1), HeadTail(0)},   {Balanced(0), Shard(0)},
                 {Replicate(), Cyclic(0, 1)},   {Shard(1), Replicate()},
                 {{Shard(0), Shard(0)}, {1, 0}}};
    for (const auto& target : targets) {
      const auto x = listed<Matrix>(mesh, target, shape, values);
      const auto y = listed<LeftMatrix>(mesh, target, shape, values);
      const auto name = to_string(x.spec());
      const auto largest = positions_of(ops::argmax, x), smallest = positions_of(ops::argmin, x);
      const auto largest_left = positions_of(ops::argmax, y);
      EXPECT_EQ(largest, most) << name;
      EXPECT_EQ(smallest, least) << name;
      EXPECT_EQ(largest_left, most) << name << " in LayoutLeft";
    }
  }
}

TEST(Operators, positions_of_extremes_are_the_first_ones_in_row_major_order) {
  expect_positions(5, 7, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3,
                          8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5, 0, 2, 8});
  expect_positions(4, 4, std::vector<double>(16, 2));
  expect_positions(1, 3, {1, 7, 7});
  expect_positions(2, 1, {7, 7});
}

TEST(Operators, positions_of_extremes_are_those_of_the_first_nan) {
  expect_positions(3, 4, {1, 2, nan, 4, nan, 6, 7, infinity, 9, 8, nan, -infinity});
  expect_positions(5, 3, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, nan, 1, 1, nan});
}

TEST(Operators, positions_of_extremes_take_one_exchange) {
  const auto x = iota<Matrix>(line(), Shard(0), {9, 4});
  const Traffic traffic;
  const auto columns = ops::argmax(x, 0);
  EXPECT_EQ(traffic.exchanges(), one());
  // A value and a position of each column from each of the other ranks.
  EXPECT_EQ(traffic.bytes_received(), (world_size() - 1) * 4 * 16);
  const Traffic none;
  const auto rows = ops::argmax(x, 1);
  EXPECT_EQ(none.exchanges(), 0);

  EXPECT_EQ(columns.placements(), Placements{Replicate()});
  EXPECT_EQ(rows.placements(), Placements{Shard(0)});
  EXPECT_EQ(elements_of(columns.to_local()), std::vector<std::int64_t>(4, 8));
}

TEST(Operators, nan_is_the_least_and_the_largest_element) {
  const auto x = listed<Vector>(line(), Shard(0), {5}, {1, 2, 3, nan, 5});
  const auto [least, most] = items(ops::min(x), ops::max(x));

  EXPECT_TRUE(std::isnan(least));
  EXPECT_TRUE(std::isnan(most));
}

TEST(Operators, reductions_of_no_elements_have_a_value_or_are_refused) {
  const auto x = zeros<Matrix>(line(), Shard(0), {0, 3});
  const auto [sum, product, mean] = items(ops::sum(x), ops::product(x), ops::mean(x));
  const auto rows = ops::min(x, 1);
  const auto refused = invalid_argument_of([&] { ops::min(x, 0); });
  const auto refused_position = invalid_argument_of([&] { ops::argmax(x); });

  EXPECT_EQ(sum, 0);
  EXPECT_EQ(product, 1);
  EXPECT_TRUE(std::isnan(mean));
  EXPECT_EQ(rows.shape(), Extents{0});
  EXPECT_EQ(refused, "min: expected at least one element to reduce, got shape (0, 3)");
  EXPECT_EQ(refused_position, "argmax: expected at least one element to reduce, got shape (0, 3)");
}

TEST(Operators, dims_of_reductions_are_checked) {
  const auto x = iota<Matrix>(line(), Shard(0), {4, 3});
  const auto out_of_range = invalid_argument_of([&] { ops::sum(x, 2); });
  const auto twice = invalid_argument_of([&] { ops::sum(x, Dims{0, -2}); });

  EXPECT_EQ(out_of_range, "sum: expected dims of a tensor with 2 dims, got 2");
  EXPECT_EQ(twice, "sum: expected each dim once, got dim 0 twice");
}

TEST(Operators, reductions_over_all_dims_one_dim_and_kept_dims) {
  for (const auto& mesh : line_and_grid()) {
    const auto x = mesh.ndim() == 1 ? iota<Matrix>(mesh, Shard(0), {5, 3})
                                    : iota<Matrix>(mesh, {Shard(1), Shard(0)}, {5, 3});
    const auto all = ops::sum(x);
    const auto columns = ops::sum(x, 0);
    const auto rows = ops::sum(x, Dims{-1});
    const auto kept = ops::sum(x, KeepDims{0, 1});
    const auto total = item(all);
    EXPECT_EQ(total, 105);
    EXPECT_EQ(kept.shape(), (Extents{1, 1}));
    expect_elements(columns, ElementsAre(30, 35, 40));
    expect_elements(rows, ElementsAre(3, 12, 21, 30, 39));
    expect_elements(kept, ElementsAre(105));
  }
}

TEST(Operators, norms_variances_and_products_of_vectors) {
  const auto x = listed<Vector>(line(), Shard(0), {4}, {1, -2, 3, -4});
  const auto y = listed<Vector>(line(), Shard(0), {4}, {2, 2, 1, 1});
  const auto [one_norm, two_norm, inf_norm, dot] =
      items(ops::norm(x, Norm::one), ops::norm(x), ops::norm(x, Norm::inf), ops::dot(x, y));
  const auto [variance, population, deviation] =
      items(ops::var(x), ops::var(x, Dims{0}, 0), ops::std(x));
  const auto [none, nothing] = items(ops::var(x, Dims{0}, 4), ops::std(x, Dims{0}, 9));

  EXPECT_EQ(one_norm, 10);
  EXPECT_DOUBLE_EQ(two_norm, std::sqrt(30.0));
  EXPECT_EQ(inf_norm, 4);
  EXPECT_EQ(dot, -3);
  EXPECT_DOUBLE_EQ(variance, 29.0 / 3);
  EXPECT_DOUBLE_EQ(population, 7.25);
  EXPECT_DOUBLE_EQ(deviation, std::sqrt(29.0 / 3));
  EXPECT_TRUE(std::isnan(none));
  EXPECT_TRUE(std::isnan(nothing));
}

TEST(Operators, vdot_conjugates_the_first_tensor_and_dot_does_not) {
  const auto x = listed<VectorOf<Complex>>(line(), Shard(0), {3}, {{1, 2}, {0, 1}, {3, 0}});
  const auto [dot, vdot] = items(ops::dot(x, x), ops::vdot(x, x));
  const auto [variance, norm] = items(ops::var(x), ops::norm(x));
  static_assert(std::is_same_v<decltype(variance), const double>);

  EXPECT_EQ(dot, Complex(5, 4));
  EXPECT_EQ(vdot, Complex(15, 0));
  EXPECT_DOUBLE_EQ(norm, std::sqrt(15.0));
  EXPECT_DOUBLE_EQ(variance, (15.0 - 25.0 / 3) / 2);
}

TEST(Operators, variances_along_dims_of_uneven_shards) {
  for (const Placement& placement : {Placement(Shard(0)), Placement(Shard(1)),
                                     Placement(Cyclic(0, 2)), Placement(Replicate())}) {
    const auto x = iota<Matrix>(line(), {placement}, {5, 3});
    expect_elements(ops::var(x, 0), ElementsAre(22.5, 22.5, 22.5));
    expect_elements(ops::var(x, 1), ElementsAre(1, 1, 1, 1, 1));
    expect_elements(ops::std(x, KeepDims{1}, 0),
                    testing::Each(testing::DoubleEq(std::sqrt(2.0 / 3))));
  }
}

// --- who may move data ---------------------------------------------------------------------------

TEST(RedistributionScope, the_innermost_one_counts) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(line(), Shard(0), {4, 4});
  const auto y = iota<Matrix>(line(), Shard(1), {4, 4});
  const auto r = iota<Matrix>(line(), Replicate(), {4, 4});
  const auto adds = [&](const auto& a, const auto& b) {
    return message_of<PlacementMismatch>([&] { a + b; }) == "no error";
  };
  EXPECT_EQ(detail::current_redistribution(), Redistribution::local);
  EXPECT_FALSE(adds(x, y));
  {
    const RedistributionScope outer(Redistribution::any);
    EXPECT_TRUE(adds(x, y));
    {
      const RedistributionScope inner(Redistribution::none);
      EXPECT_FALSE(adds(x, r));
      {
        const RedistributionScope innermost(Redistribution::local);
        EXPECT_TRUE(adds(x, r));
        EXPECT_FALSE(adds(x, y));
      }
      EXPECT_FALSE(adds(x, r));
    }
    EXPECT_TRUE(adds(x, y));
  }
  EXPECT_FALSE(adds(x, y));
}

TEST(RedistributionScope, none_leaves_operators_their_own_exchanges) {
  const auto x = iota<Vector>(line(), Shard(0), {6});
  const auto p = contributions<Vector>(ReduceOp::sum, {6});
  const RedistributionScope scope(Redistribution::none);
  const auto sum = ops::sum(x);
  const auto position = ops::argmax(x);
  const auto variance = ops::var(x);
  const auto [total, at, spread] = items(sum, position, variance);
  EXPECT_EQ(total, 15);
  EXPECT_EQ(at, 5);
  EXPECT_EQ(spread, 3.5);
  if (world_size() == 1) return;

  const auto refused = message_of<PlacementMismatch>([&] { ops::exp(p); });
  const auto refused_variance = message_of<PlacementMismatch>([&] { ops::var(p); });
  EXPECT_THAT(refused, HasSubstr("exp: expected placements that fit: x is P(sum) on "));
  EXPECT_THAT(refused, HasSubstr("RedistributionScope(Redistribution::local)"));
  EXPECT_THAT(refused_variance, HasSubstr("var: "));
}

TEST(RedistributionScope, ownerships_that_agree_need_no_exchange_under_other_names) {
  const auto n = 2 * world_size();
  const auto x = iota<Matrix>(line(), Shard(0), {n, 3});
  const auto y = iota<Matrix>(line(), Balanced(0), {n, 3});
  const RedistributionScope scope(Redistribution::none);
  const Traffic traffic;
  const auto sum = x + y;

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(wrong_iota(sum, 2), "");
}

TEST(Operators, tensors_on_different_meshes_are_refused) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto other = mesh_of({world_size(), 1});
  const auto x = iota<Vector>(line(), Shard(0), {4});
  const auto y = iota<Vector>(other, {Shard(0), Replicate()}, {4});
  const auto refused = message_of<MeshMismatch>([&] { x + y; });
  const auto empty = invalid_argument_of([&] { x + DTensor<Vector>(); });

  EXPECT_THAT(refused, HasSubstr("operator+: expected operands on one mesh"));
  EXPECT_THAT(empty, HasSubstr("operator+: expected tensors, got an empty DTensor"));
}

// --- Views and tensors ---------------------------------------------------------------------------

TEST(ImplicitReplication, makes_a_tensor_of_a_view_that_all_ranks_hold) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 4});
  const auto view = iota_view<Matrix>({5, 4});
  const ImplicitReplication implicit(line());
  const Traffic traffic;
  const auto sum = x + implicit(view);
  const auto other = implicit(view) - x;

  EXPECT_EQ(traffic.exchanges() + traffic.agreements() + traffic.metadata(), 0);
  EXPECT_EQ(wrong_iota(sum, 2), "");
  EXPECT_EQ(wrong_iota(other, 0), "");
}

TEST(SkipDTensorDispatch, runs_operators_on_the_local_view) {
  const auto x = iota<Matrix>(line(), Shard(0), {2 * world_size(), 3});
  const SkipDTensorDispatch skip;
  const auto sum = skip(ops::sum, x, Dims{0});
  const auto twice = skip(ops::add, x, x);
  static_assert(Kokkos::is_view_v<std::remove_cvref_t<decltype(sum)>>);

  const double first = 6 * world_rank();
  EXPECT_THAT(elements_of(sum), ElementsAre(2 * first + 3, 2 * first + 5, 2 * first + 7));
  EXPECT_EQ(elements_of(twice)[1], 2 * (first + 1));
}

TEST(SkipDTensorDispatch, keeps_operators_that_are_named) {
  const auto x = iota<Matrix>(line(), Shard(0), {2 * world_size(), 3});
  const double last = 6 * world_size() - 3;
  for (const auto& skip : {SkipDTensorDispatch(ops::argmax), SkipDTensorDispatch("argmax")}) {
    const auto kept = skip(ops::argmax, x, 0);
    const auto skipped = skip(ops::max, x, 0);
    const auto local = skip(ops::zeros_like, x);
    static_assert(Kokkos::is_view_v<std::remove_cvref_t<decltype(kept)>>);
    EXPECT_EQ(elements_of(kept), std::vector<std::int64_t>(3, 2 * world_size() - 1));
    EXPECT_EQ(elements_of(skipped)[0], 6 * world_rank() + 3);
    EXPECT_EQ(local.extent(0), 2);
  }
  const auto largest = item(ops::max(x));
  EXPECT_EQ(largest, last + 2);
}

TEST(Operators, take_views_alone) {
  const auto a = iota_view<Matrix>({3, 2});
  const auto b = iota_view<LeftMatrix>({3, 2});
  const auto row = iota_view<Vector>({2});
  EXPECT_THAT(elements_of(ops::add(a, b)), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(elements_of(ops::multiply(a, row)), ElementsAre(0, 1, 0, 3, 0, 5));
  EXPECT_THAT(elements_of(ops::where(ops::less(a, 3), a, 0)), ElementsAre(0, 1, 2, 0, 0, 0));
  EXPECT_THAT(elements_of(ops::sum(a)), ElementsAre(15));
  EXPECT_THAT(elements_of(ops::mean(a, 0)), ElementsAre(2, 3));
  EXPECT_THAT(elements_of(ops::argmax(b, 1)), ElementsAre(1, 1, 1));
  EXPECT_THAT(elements_of(ops::var(a)), ElementsAre(3.5));
  EXPECT_THAT(elements_of(ops::std(row)), ElementsAre(testing::DoubleEq(std::sqrt(0.5))));
  EXPECT_THAT(elements_of(ops::norm(row)), ElementsAre(1));
  EXPECT_THAT(elements_of(ops::dot(row, row)), ElementsAre(1));
  EXPECT_THAT(elements_of(ops::ones_like(row)), ElementsAre(1, 1));
  EXPECT_THAT(invalid_argument_of([&] { ops::add(a, iota_view<Vector>({3})); }),
              HasSubstr("operator+: expected shapes that broadcast"));
  EXPECT_THAT(invalid_argument_of([&] { ops::max(iota_view<Vector>({0})); }),
              HasSubstr("max: expected at least one element"));
}

// --- rules of users ------------------------------------------------------------------------------

/// Gives operators other rules while it lives.
template <class Op>
class Registered {
 public:
  Registered(Op op, const OperatorRules& rules) : op_(op) { register_sharding(op, rules); }
  ~Registered() { unregister_sharding(op_); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  Op op_;
};

std::vector<OperatorRule> only_replicate(const OperatorCall& call) {
  OperatorRule rule{Replicate(), {}};
  for (const auto& operand : call.operands)
    rule.inputs.push_back(operand.spec ? std::optional<Placement>(Replicate()) : std::nullopt);
  return {rule};
}

TEST(RegisterSharding, o13_replaces_the_rules_of_an_operator) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(line(), Shard(0), {4, 3});
  {
    const Registered registered(ops::exp, only_replicate);
    EXPECT_THAT(message_of<PlacementMismatch>([&] { ops::exp(x); }),
                HasSubstr("exp: expected placements that fit: x is S(0)"));
    const RedistributionScope scope(Redistribution::any);
    const auto y = ops::exp(x);
    EXPECT_EQ(y.placements(), Placements{Replicate()});
    EXPECT_EQ(wrong_piece(ops::log(y), GlobalIndex(x.shape())), "");
  }
  const auto y = ops::exp(x);
  EXPECT_EQ(y.placements(), Placements{Shard(0)});
}

TEST(RegisterSharding, takes_operators_by_name_and_in_a_list) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = ones<Vector>(line(), Shard(0), {4});
  const auto is_refused = [](const auto& call) {
    return message_of<PlacementMismatch>(call) != "no error";
  };
  {
    const Registered registered("sin", only_replicate);
    EXPECT_TRUE(is_refused([&] { ops::sin(x); }));
    EXPECT_FALSE(is_refused([&] { ops::cos(x); }));
  }
  register_sharding(std::tuple(ops::cos, ops::sum), only_replicate);
  EXPECT_TRUE(is_refused([&] { ops::cos(x); }));
  EXPECT_TRUE(is_refused([&] { ops::sum(x); }));
  EXPECT_FALSE(is_refused([&] { ops::sin(x); }));
  unregister_sharding(ops::cos);
  unregister_sharding(ops::sum);
  EXPECT_FALSE(is_refused([&] { ops::cos(x); }));
  EXPECT_FALSE(is_refused([&] { ops::sum(x); }));
}

TEST(RegisterSharding, a_rule_that_lies_about_shapes_is_named) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(line(), Replicate(), {4, 3});
  const Registered registered(ops::exp, [](const OperatorCall&) {
    return std::vector<OperatorRule>{{Shard(0), {Replicate()}}};
  });
  const auto lie = invalid_argument_of([&] { ops::exp(x); });

  EXPECT_THAT(lie,
              HasSubstr("exp: expected rules of operator \"exp\" under which local pieces give "
                        "a piece of"));
  EXPECT_THAT(lie, HasSubstr("(rules R -> S(0))"));
}

TEST(RegisterSharding, rules_that_do_not_fit_the_call_are_named) {
  const auto x = iota<Matrix>(line(), Replicate(), {4, 3});
  const auto message_under = [&](const OperatorRule& rule) {
    const Registered registered(
        ops::add, [&](const OperatorCall&) { return std::vector<OperatorRule>{rule}; });
    return invalid_argument_of([&] { ops::add(x, 1.0); });
  };
  EXPECT_THAT(message_under({Replicate(), {Replicate()}}),
              HasSubstr("it has 1 inputs, the call has 2 operands"));
  EXPECT_THAT(message_under({Replicate(), {Replicate(), Replicate()}}),
              HasSubstr("operand 1 is not a tensor"));
  EXPECT_THAT(message_under({Shard(2), {Replicate(), std::nullopt}}),
              HasSubstr("the result has shape (4, 3)"));
  EXPECT_THAT(message_under({Replicate(), {Shard(2), std::nullopt}}),
              HasSubstr("operand 0 has shape (4, 3)"));
  const Registered registered(ops::add,
                              [](const OperatorCall&) { return std::vector<OperatorRule>{}; });
  EXPECT_THAT(invalid_argument_of([&] { ops::add(x, 1.0); }),
              HasSubstr("expected at least one rule of operator \"add\""));
}

/// Computes factor (a + b) of matrices, by rows or whole.
struct ScaledSum {
  static constexpr const char* name = "test_scaled_sum";
  double factor = 1;

  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Shard(0), {Shard(0), Shard(0)}}, {Replicate(), {Replicate(), Replicate()}}};
  }
  std::vector<OperatorAttribute> attributes() const { return {{"factor", factor}}; }
  Matrix local(const Matrix& a, const Matrix& b) const {
    return ops::multiply(ops::add(a, b), factor);
  }
};

/// Has rules of two operands, and takes one.
struct Unary {
  static constexpr const char* name = "test_unary";
  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Replicate(), {Replicate(), Replicate()}}};
  }
  Matrix local(const Matrix& a) const { return a; }
};

/// Returns its operand, and says that this is a piece of the result.
struct Lying {
  static constexpr const char* name = "test_lying";
  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Shard(0), {Replicate()}}};
  }
  Matrix local(const Matrix& a) const { return a; }
};

/// Returns a matrix of another shape than it says.
struct Misshapen {
  static constexpr const char* name = "test_misshapen";
  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Replicate(), {Replicate(), std::nullopt}}};
  }
  Matrix local(const Matrix& a, double) const {
    return Matrix("misshapen", a.extent(0) + 1, a.extent(1));
  }
};

TEST(UserOperators, run_on_local_views_under_their_rules) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto y = iota<Matrix>(line(), Shard(1), {5, 3});
  const auto r = iota<Matrix>(line(), Replicate(), {5, 3});
  const Traffic none;
  const auto rows = call_operator(ScaledSum{3}, x, r);
  const auto whole = call_operator(ScaledSum{-1}, r, r);
  EXPECT_EQ(none.exchanges(), 0);
  EXPECT_EQ(rows.placements(), Placements{Shard(0)});
  EXPECT_EQ(whole.placements(), Placements{Replicate()});
  EXPECT_EQ(wrong_iota(rows, 6), "");
  EXPECT_EQ(wrong_iota(whole, -2), "");
  if (world_size() == 1) return;

  EXPECT_THAT(message_of<PlacementMismatch>([&] { call_operator(ScaledSum{1}, x, y); }),
              HasSubstr("test_scaled_sum: expected placements that fit: x is S(0), y is S(1)"));
  const RedistributionScope scope(Redistribution::any);
  const CommDebugMode mode;
  const Traffic traffic;
  const auto moved = call_operator(ScaledSum{2}, x, y);
  EXPECT_EQ(traffic.exchanges(), 1);
  EXPECT_EQ(wrong_iota(moved, 4), "");
  const auto records = operators_in(mode);
  ASSERT_EQ(records.size(), 1);
  EXPECT_EQ(records[0].operation, "test_scaled_sum");
  EXPECT_TRUE(records[0].is_implicit);
}

TEST(UserOperators, that_lie_are_named) {
  const auto r = iota<Matrix>(line(), Replicate(), {4, 3});
  EXPECT_THAT(invalid_argument_of([&] { call_operator(Misshapen{}, r, 2.0); }),
              HasSubstr("test_misshapen: expected a local result of shape (4, 3)"));
  EXPECT_THAT(invalid_argument_of([&] { call_operator(Unary{}, r); }),
              HasSubstr("it has 2 inputs, the call has 1 operands"));
  if (world_size() == 1) return;
  EXPECT_THAT(invalid_argument_of([&] { call_operator(Lying{}, r); }),
              HasSubstr("test_lying: expected rules of operator \"test_lying\" under which"));
}

// --- what is recorded ----------------------------------------------------------------------------

TEST(OperatorRecords, each_call_is_one_with_its_specs_and_its_rule) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 2});
  const auto on = " on (" + std::to_string(world_size()) + ")";
  const CommDebugMode mode;
  const auto y = x + x;
  const auto z = ops::sum(x * 2.0, 0);
  const auto records = operators_in(mode);

  ASSERT_EQ(records.size(), 3);
  EXPECT_EQ(records[0].operation, "add");
  EXPECT_THAT(records[0].call, HasSubstr("add of float64 (6, 2)" + on + " as S(0)"));
  EXPECT_THAT(records[0].call, HasSubstr("-> float64 (6, 2)" + on + " as S(0)"));
  EXPECT_THAT(records[1].call, HasSubstr(" and a number"));
  EXPECT_EQ(records[2].operation, "sum");
  EXPECT_THAT(records[2].call, HasSubstr("over dims (0) -> float64 (2)" + on + " as P(sum)"));
  for (const auto& record : records) {
    EXPECT_FALSE(record.is_implicit);
    EXPECT_TRUE(record.is_trivial);
    EXPECT_EQ(record.group_size, world_size());
    EXPECT_EQ(record.bytes_received, 0);
  }
  EXPECT_EQ(mode.get_total_counts(), 0);
  EXPECT_EQ(mode.get_comm_counts().at("operator"), 3);
}

TEST(OperatorRecords, what_an_operator_may_reduce_is_not_implicit) {
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const CommDebugMode mode;
  const auto y = ops::exp(p);
  const auto records = operators_in(mode);

  ASSERT_EQ(records.size(), 1);
  EXPECT_FALSE(records[0].is_implicit);
  EXPECT_EQ(records[0].is_trivial, world_size() == 1);
  EXPECT_EQ(mode.get_total_counts(), one());
  if (world_size() > 1) {
    EXPECT_THAT(records[0].call, HasSubstr("; reduces operand 0 to "));
  }
}

/// Returns what the module ops logs while call() runs.
template <class Call>
std::vector<std::string> logged(LogLevel level, const Call& call) {
  const auto before = log_settings();
  set_log_settings({.levels = {{"ops", level}}});
  std::vector<std::string> texts;
  {
    const LogScope scope([&](const LogRecord& record) { texts.push_back(to_string(record)); });
    call();
  }
  set_log_settings(before);
  return texts;
}

TEST(OperatorRecords, new_calls_are_logged_for_debug_and_implicit_ones_for_info) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto n = 10 + world_size();  // so that no other test has made these calls
  const auto x = iota<Matrix>(line(), Shard(0), {n, 5});
  const auto y = iota<Matrix>(line(), Shard(1), {n, 5});
  const RedistributionScope scope(Redistribution::any);
  const auto info = logged(LogLevel::info, [&] {
    x * 2.0;
    x* y;
    x* y;
  });
  const auto debug = logged(LogLevel::debug, [&] { x - 2.0; });

  ASSERT_EQ(info.size(), 1);
  EXPECT_THAT(info[0], testing::StartsWith("ops: info: implicit: multiply of float64 "));
  EXPECT_THAT(info[0], HasSubstr("redistributes operand 1 to S(0)"));
  ASSERT_EQ(debug.size(), 1);
  EXPECT_THAT(debug[0], testing::StartsWith("ops: debug: subtract of float64 "));
}

TEST(OperatorRecords, explain_says_what_a_call_would_do) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 4});
  const auto y = iota<Matrix>(line(), Shard(1), {6, 4});
  const Traffic traffic;
  const auto sum = explain(ops::sum, x, Dims{0});
  const auto specs = explain<float>(ops::add, x.spec(), x.spec());
  const auto refused = explain(ops::add, x, y);

  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  EXPECT_THAT(sum, HasSubstr("as P(sum)"));
  EXPECT_THAT(specs, HasSubstr("float32 (6, 4)"));
  if (world_size() > 1) {
    EXPECT_THAT(refused, HasSubstr("operator+: expected placements that fit"));
  }
}

// --- exchanges and bytes -------------------------------------------------------------------------

/// Returns how many exchanges call() makes.
template <class Call>
int exchanges_of(const Call& call) {
  const Traffic traffic;
  call();
  return traffic.exchanges();
}

TEST(OperatorTraffic, of_each_family) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 4});
  const auto v = iota<Vector>(line(), Shard(0), {6});
  const auto p = contributions<Matrix>(ReduceOp::sum, {6, 4});
  const auto sum = ops::sum(x);
  EXPECT_EQ(exchanges_of([&] { x + x * 2.0; }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::where(x < 3.0, x, 0.0); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::sum(x); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::mean(x, 0); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::norm(x, Norm::one); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::dot(v, v); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::var(x, 1); }), 0);
  EXPECT_EQ(exchanges_of([&] { items(sum, sum, sum); }), one());
  EXPECT_EQ(exchanges_of([&] { item(sum); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::exp(p); }), one());
  EXPECT_EQ(exchanges_of([&] { p* p; }), one());
  EXPECT_EQ(exchanges_of([&] { static_cast<void>(p < p); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::argmax(x); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::argmin(x, 0); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::var(x); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::std(x); }), 2 * one());
  EXPECT_EQ(exchanges_of([&] { ops::norm(x); }), one());
  EXPECT_EQ(exchanges_of([&] { equal(x, x); }), one());
  EXPECT_EQ(exchanges_of([&] { allclose(x, x); }), one());
}

TEST(OperatorTraffic, without_an_exchange_nothing_is_compared) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 4});
  const auto r = iota<Matrix>(line(), Replicate(), {6, 4});
  const Traffic traffic;
  const auto y = ops::sum((x + r) * 2.0, 0);

  EXPECT_EQ(traffic.exchanges() + traffic.agreements() + traffic.metadata(), 0);
  EXPECT_EQ(y.placements(), Placements{Partial()});
}

TEST(OperatorTraffic, results_of_reductions_over_sharded_dims_are_partial) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 4});
  EXPECT_EQ(ops::sum(x).placements(), Placements{Partial()});
  EXPECT_EQ(ops::max(x, 0).placements(), Placements{Partial(ReduceOp::max)});
  EXPECT_EQ(ops::any(x > 3.0).placements(), Placements{Partial(ReduceOp::bor)});
  EXPECT_EQ(ops::all(x > 3.0).placements(), Placements{Partial(ReduceOp::band)});
  EXPECT_EQ(ops::sum(x, 1).placements(), Placements{Shard(0)});
  EXPECT_EQ(ops::sum(iota<Matrix>(line(), Shard(1), {6, 4}), 0).placements(), Placements{Shard(0)});
}

// --- kernels, fences, allocations ----------------------------------------------------------------

/// Returns the number of kernels that the tools see for one operator: none where a single thread
/// does the work.
std::size_t kernels_of_one(std::int64_t bytes) {
  if constexpr (!host_can_access<Matrix>)
    return 1;
  else
    return detail::is_for_threads(Execution(), bytes) ? 1 : 0;
}

struct MultiplyAdd {
  KOKKOS_FUNCTION double operator()(double a, double b, double c) const { return a + b * c; }
};

TEST(OperatorKernels, an_elementwise_operator_is_one_kernel_in_recycled_memory) {
  const auto x = iota<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  const auto z = iota<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  DTensor<Matrix> y;
  for (int i = 0; i < 3; ++i) y = x + z;
  const RecordedEvents seen;
  y = x + z;

  EXPECT_EQ(seen->kernels.size(), kernels_of_one(64 * 1024 * 8));
  EXPECT_THAT(seen->fences, IsEmpty());
  EXPECT_THAT(seen->allocations, IsEmpty());
  EXPECT_THAT(seen->copies, IsEmpty());
  EXPECT_EQ(wrong_iota(y, 2), "");
}

TEST(OperatorKernels, map_computes_an_expression_in_one) {
  const auto a = iota<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  const auto b = ones<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  DTensor<Matrix> y;
  for (int i = 0; i < 3; ++i) y = map(MultiplyAdd(), a, b, a);
  const RecordedEvents seen;
  y = map(MultiplyAdd(), a, b, a);

  EXPECT_EQ(seen->kernels.size(), kernels_of_one(64 * 1024 * 8));
  EXPECT_THAT(seen->fences, IsEmpty());
  EXPECT_THAT(seen->allocations, IsEmpty());
  EXPECT_EQ(wrong_iota(y, 2), "");
}

TEST(OperatorKernels, a_change_in_place_allocates_nothing) {
  const auto x = zeros<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  const auto z = iota<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  x += z;
  const RecordedEvents seen;
  x += z;

  EXPECT_EQ(seen->kernels.size(), kernels_of_one(64 * 1024 * 8));
  EXPECT_THAT(seen->fences, IsEmpty());
  EXPECT_THAT(seen->allocations, IsEmpty());
  EXPECT_EQ(wrong_iota(x, 2), "");
}

TEST(OperatorKernels, results_that_somebody_holds_are_not_recycled) {
  const auto x = iota<Vector>(line(), Shard(0), {7});
  const auto once = x + 0.0;
  const auto twice = x * 2.0;
  const auto thrice = x * 3.0;

  EXPECT_EQ(wrong_iota(once), "");
  EXPECT_EQ(wrong_iota(twice, 2), "");
  EXPECT_EQ(wrong_iota(thrice, 3), "");
}

// --- in place, map -------------------------------------------------------------------------------

TEST(InPlace, tensors_and_numbers_change_the_memory_of_the_tensor) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto r = iota<Matrix>(line(), Replicate(), {5, 3});
  const auto* const data = x.to_local().data();
  x += r;
  x -= 1;
  x *= 2;
  x /= 4;
  x += x;

  EXPECT_EQ(x.to_local().data(), data);
  const auto expected = [&](const Extents& at) { return 2 * GlobalIndex(x.shape())(at) - 1; };
  EXPECT_EQ(wrong_piece(x, expected), "");
}

TEST(InPlace, contributions_are_changed_by_what_is_linear) {
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const auto q = contributions<Vector>(ReduceOp::sum, {4});
  const Traffic traffic;
  p += q;
  p *= 2;
  p += 1;
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto values = all_elements(p);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 4.0 * triangle() * static_cast<double>(i) + 1);
  if (world_size() > 1) {
    EXPECT_THAT(message_of<PlacementMismatch>([&] { p *= q; }),
                HasSubstr("operator*: expected a result with the placements of the tensor that is "
                          "changed"));
  }
}

TEST(InPlace, operands_are_reduced_and_sliced_as_operators_do) {
  const auto x = iota<Vector>(line(), Replicate(), {4});
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const auto rows = iota<Vector>(line(), Shard(0), {4});
  if (world_size() > 1) {
    EXPECT_THAT(message_of<PlacementMismatch>([&] { x += p; }), HasSubstr("write x = x "));
    EXPECT_THAT(message_of<PlacementMismatch>([&] { x += rows; }), HasSubstr("operator+: "));
    EXPECT_EQ(wrong_iota(x), "");
  }
  const Traffic traffic;
  rows *= p;
  EXPECT_EQ(traffic.exchanges(), one());
  const auto expected = [&](const Extents& at) {
    return static_cast<double>(triangle() * at[0] * at[0]);
  };
  EXPECT_EQ(wrong_piece(rows, expected), "");
}

TEST(InPlace, a_result_of_another_shape_is_refused) {
  const auto row = iota<Matrix>(line(), Replicate(), {1, 4});
  const auto x = iota<Matrix>(line(), Replicate(), {3, 4});
  EXPECT_THAT(message_of<PlacementMismatch>([&] { row += x; }),
              HasSubstr("expected a result with the placements of the tensor that is changed"));
  x += row;
  EXPECT_EQ(wrong_piece(x, [](const Extents& at) { return 4 * at[0] + 2 * at[1]; }), "");
}

TEST(InPlace, operands_that_overlap_the_tensor_count_as_they_were) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 8});
  const auto left = slice(x, all, {0, 7});
  const auto right = slice(x, all, {1, 8});
  left += right;
  const auto expected = [](const Extents& at) {
    const auto index = 8 * at[0] + at[1];
    return at[1] == 7 ? index : 2 * index + 1;
  };
  EXPECT_EQ(wrong_piece(x, expected), "");
  right -= left;
  EXPECT_EQ(
      wrong_piece(x,
                  [&](const Extents& at) {
                    return at[1] == 0 ? expected(at) : expected(at) - expected({at[0], at[1] - 1});
                  }),
      "");

  const auto square = iota<Matrix>(line(), Replicate(), {4, 4});
  square += transpose(square);
  EXPECT_EQ(wrong_piece(square, [](const Extents& at) { return 5 * (at[0] + at[1]); }), "");
}

struct PlusIndex {
  template <std::size_t N>
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, N>& index, double a) const {
    double result = a;
    for (std::size_t d = 0; d != N; ++d)
      result += static_cast<double>(index[d]) * (d == 0 ? 100 : 1);
    return result;
  }
};

template <class V>
void expect_map_with_index() {
  for (const auto& mesh : line_and_grid()) {
    std::vector<Placements> all_placements{
        {Shard(0)}, {Cyclic(0, 2)}, {Shard(1)}, {HeadTail(1)}, {Replicate()}};
    if (mesh.ndim() == 2)
      all_placements = {
          {Shard(0), Cyclic(1, 2)}, {Shard(0), Shard(0)}, {Replicate(), Cyclic(0, 1)}};
    for (const auto& placements : all_placements) {
      const auto x = iota<V>(mesh, placements, {7, 5});
      const auto y = map_with_index(PlusIndex(), x);
      EXPECT_EQ(y.placements(), placements);
      EXPECT_EQ(wrong_piece(y, [](const Extents& at) { return 105 * at[0] + 2 * at[1]; }), "")
          << to_string(x.spec());
    }
  }
}

TEST(Map, gives_the_global_index_under_all_rules_and_layouts) {
  expect_map_with_index<Matrix>();
  expect_map_with_index<LeftMatrix>();
}

struct IsLarge {
  KOKKOS_FUNCTION bool operator()(double a, float b) const { return a > static_cast<double>(b); }
};

TEST(Map, takes_tensors_of_several_types_and_shapes) {
  const auto x = iota<Matrix>(line(), Shard(0), {4, 3});
  const auto limits = listed<VectorOf<float>>(line(), Replicate(), {3}, {4, 5, 6});
  const auto large = map(IsLarge(), x, limits);
  const auto numbers = map<std::int32_t>(IsLarge(), x, limits);
  static_assert(std::is_same_v<decltype(large)::view_type::value_type, bool>);
  static_assert(std::is_same_v<decltype(numbers)::view_type::value_type, std::int32_t>);
  const auto expected = [](const Extents& at) { return 3 * at[0] + at[1] > 4 + at[1] ? 1 : 0; };

  EXPECT_EQ(wrong_piece(large, expected), "");
  EXPECT_EQ(wrong_piece(numbers, expected), "");
}

struct Twice {
  KOKKOS_FUNCTION double operator()(double a) const { return 2 * a; }
};

TEST(Map, into_writes_to_a_tensor) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 4});
  const auto r = iota<LeftMatrix>(line(), Replicate(), {5, 4});
  const auto result = zeros<LeftMatrix>(line(), Shard(0), {5, 4});
  const Traffic traffic;
  map_into(result, Twice(), r);
  EXPECT_EQ(wrong_iota(result, 2), "");
  map_into(x, MultiplyAdd(), x, result, r);
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto expected = [&](const Extents& at) {
    const auto index = GlobalIndex(x.shape())(at);
    return index + 2 * index * index;
  };
  EXPECT_EQ(wrong_piece(x, expected), "");
  if (world_size() > 1) {
    EXPECT_THAT(message_of<PlacementMismatch>([&] { map_into(r, Twice(), x); }),
                HasSubstr("map_into: "));
  }
}

TEST(Map, into_a_tensor_that_overlaps_an_operand_reads_what_was_there_before) {
  const auto x = iota<Matrix>(line(), Replicate(), {3, 8});
  const auto before = all_elements(clone(x));
  map_into(slice(x, all, {0, 7}), Twice(), slice(x, all, {1, 8}));
  const auto values = all_elements(x);

  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], i % 8 == 7 ? before[i] : 2 * before[i + 1]);
}

TEST(Map, reduces_contributions_first) {
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const Traffic traffic;
  const auto y = map(Twice(), p);
  EXPECT_EQ(traffic.exchanges(), one());
  const auto values = all_elements(y);

  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 2.0 * triangle() * static_cast<double>(i));
}

TEST(Elementwise, where_and_clamp_take_numbers) {
  const auto x = iota<Vector>(line(), Shard(0), {6});
  const auto chosen = all_elements(ops::where(x < 3, x, -1.0));
  const auto other = all_elements(ops::where(x < 3, 7, x));
  const auto limited = all_elements(ops::clamp(x, 1, 4.5));

  EXPECT_THAT(chosen, ElementsAre(0, 1, 2, -1, -1, -1));
  EXPECT_THAT(other, ElementsAre(7, 7, 7, 3, 4, 5));
  EXPECT_THAT(limited, ElementsAre(1, 1, 2, 3, 4, 4.5));
}

TEST(Elementwise, functions_of_real_numbers) {
  const auto x = listed<Vector>(line(), Shard(0), {3}, {-1.5, 0, 0.25});
  const auto check = [&](const auto& y, double (*function)(double)) {
    const auto values = all_elements(y);
    EXPECT_DOUBLE_EQ(values[0], function(-1.5));
    EXPECT_DOUBLE_EQ(values[1], function(0));
    EXPECT_DOUBLE_EQ(values[2], function(0.25));
  };
  check(-x, [](double a) { return -a; });
  check(ops::abs(x), [](double a) { return std::fabs(a); });
  check(ops::sign(x), [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; });
  check(ops::square(x), [](double a) { return a * a; });
  check(ops::exp(x), [](double a) { return std::exp(a); });
  check(ops::sin(x), [](double a) { return std::sin(a); });
  check(ops::cos(x), [](double a) { return std::cos(a); });
  check(ops::tanh(x), [](double a) { return std::tanh(a); });
  check(ops::sigmoid(x), [](double a) { return 1 / (1 + std::exp(-a)); });
  check(ops::relu(x), [](double a) { return a > 0 ? a : 0; });
  check(ops::sqrt(ops::square(x)), [](double a) { return std::fabs(a); });
  check(ops::log(ops::exp(x)), [](double a) { return a; });
  check(ops::pow(x, 3), [](double a) { return a * a * a; });
  check(2 / (x + 2), [](double a) { return 2 / (a + 2); });
  check(1 - x, [](double a) { return 1 - a; });
  check(ops::maximum(x, -1.0), [](double a) { return std::fmax(a, -1.0); });
  check(ops::minimum(x, 0.125), [](double a) { return std::fmin(a, 0.125); });
}

TEST(Elementwise, parts_of_complex_numbers) {
  const auto z = listed<VectorOf<Complex>>(line(), Shard(0), {2}, {{3, -4}, {0, 1}});
  const auto sizes = ops::abs(z);
  static_assert(std::is_same_v<decltype(sizes)::view_type::value_type, double>);
  expect_elements(sizes, ElementsAre(5, 1));
  expect_elements(ops::real(z), ElementsAre(3, 0));
  expect_elements(ops::imag(z), ElementsAre(-4, 1));
  expect_elements(ops::conj(z), ElementsAre(Complex(3, 4), Complex(0, -1)));
  expect_elements(z * Complex(0, 1), ElementsAre(Complex(4, 3), Complex(-1, 0)));
}

TEST(Elementwise, comparisons_and_logic) {
  const auto x = iota<Vector>(line(), Shard(0), {4});
  expect_elements(x < 2, ElementsAre(1, 1, 0, 0));
  expect_elements(x <= 2, ElementsAre(1, 1, 1, 0));
  expect_elements(x > 2, ElementsAre(0, 0, 0, 1));
  expect_elements(x >= 2, ElementsAre(0, 0, 1, 1));
  expect_elements(2 < x, ElementsAre(0, 0, 0, 1));
  expect_elements(ops::equal_to(x, 2), ElementsAre(0, 0, 1, 0));
  expect_elements(ops::not_equal_to(x, x), ElementsAre(0, 0, 0, 0));
  expect_elements((x < 3) && (x > 1), ElementsAre(0, 0, 1, 0));
  expect_elements((x < 1) || (x > 2), ElementsAre(1, 0, 0, 1));
  expect_elements(!(x < 1), ElementsAre(0, 1, 1, 1));
  const auto [any, all, count] = items(ops::any(x > 2), ops::all(x > 2), ops::count_nonzero(x));
  EXPECT_TRUE(any);
  EXPECT_FALSE(all);
  EXPECT_EQ(count, 3);
}

TEST(Elementwise, integers_wrap_around_and_are_divided_by_zero) {
  const auto x = listed<VectorOf<std::int8_t>>(line(), Shard(0), {4}, {100, -128, 7, 0});
  const auto zero = zeros<VectorOf<std::int8_t>>(line(), Replicate(), {4});
  expect_elements(x + x, ElementsAre(-56, 0, 14, 0));
  expect_elements(x / zero, ElementsAre(0, 0, 0, 0));
  expect_elements(x / -1, ElementsAre(-100, -128, -7, 0));
  expect_elements(ops::pow(x, 2), ElementsAre(16, 0, 49, 0));
  EXPECT_EQ(invalid_argument_of([&] { x + 200; }),
            "operator+: expected a number that elements of int8 can hold, got 200");
  EXPECT_EQ(invalid_argument_of([&] { x *= -129; }),
            "operator*: expected a number that elements of int8 can hold, got -129");
}

// --- shapes, types, layouts, meshes --------------------------------------------------------------

TEST(Broadcasting, aligns_shapes_at_the_last_dim) {
  const auto x = iota<Matrix>(line(), Shard(0), {4, 6});
  const auto row = iota<Vector>(line(), Replicate(), {6});
  const auto column = iota<Matrix>(line(), Shard(0), {4, 1});
  const auto wide = iota<Matrix>(line(), Replicate(), {1, 6});
  const auto narrow = iota<Matrix>(line(), Shard(1), {4, 6});
  const auto short_row = iota<Vector>(line(), Shard(0), {6});
  const auto number = full<ScalarOf<double>>(line(), Replicate(), {}, 3.0);
  const Traffic traffic;
  const auto with_row = x + row;
  const auto outer = column + wide;
  const auto columns = narrow + short_row;
  const auto with_number = number + x;
  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(outer.shape(), (Extents{4, 6}));
  EXPECT_EQ(columns.placements(), Placements{Shard(1)});
  EXPECT_EQ(wrong_piece(with_row, [](const Extents& at) { return 6 * at[0] + 2 * at[1]; }), "");
  EXPECT_EQ(wrong_piece(outer, [](const Extents& at) { return at[0] + at[1]; }), "");
  EXPECT_EQ(wrong_piece(columns, [](const Extents& at) { return 6 * at[0] + 2 * at[1]; }), "");
  EXPECT_EQ(wrong_piece(with_number, [](const Extents& at) { return 3 + 6 * at[0] + at[1]; }), "");
  EXPECT_EQ(invalid_argument_of([&] { x + iota<Vector>(line(), Replicate(), {4}); }),
            "operator+: expected shapes that broadcast: equal extents, or 1, from the last dim on; "
            "got (4, 6) and (4)");
}

TEST(Broadcasting, a_sharded_dim_of_extent_1_moves_or_is_refused) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(line(), Shard(0), {4, 6});
  const auto row = iota<Matrix>(line(), Shard(0), {1, 6});
  EXPECT_THAT(message_of<PlacementMismatch>([&] { x + row; }),
              HasSubstr("operator+: expected placements that fit: x is S(0), y is S(0)"));
  const RedistributionScope scope(Redistribution::any);
  const Traffic traffic;
  const auto sum = x + row;
  EXPECT_EQ(traffic.exchanges(), 1);
  EXPECT_EQ(wrong_piece(sum, [](const Extents& at) { return 6 * at[0] + 2 * at[1]; }), "");
}

TEST(ElementTypes, floating_and_complex_numbers_meet_in_the_common_type) {
  const auto f = iota<MatrixOf<float>>(line(), Shard(0), {5, 2});
  const auto d = iota<Matrix>(line(), Shard(0), {5, 2});
  const auto c = iota<MatrixOf<Kokkos::complex<float>>>(line(), Shard(0), {5, 2});
  const auto fd = f + d;
  const auto dc = d * c;
  static_assert(std::is_same_v<decltype(fd)::view_type::value_type, double>);
  static_assert(std::is_same_v<decltype(dc)::view_type::value_type, Complex>);
  static_assert(std::is_same_v<decltype(f + 2.5)::view_type::value_type, float>);
  EXPECT_EQ(wrong_iota(fd, 2), "");
  EXPECT_EQ(wrong_piece(dc,
                        [&](const Extents& at) {
                          const auto index = GlobalIndex(d.shape())(at);
                          return index * index;
                        }),
            "");
}

TEST(Layouts, all_of_them_meet) {
  const auto right = iota<Matrix>(line(), Shard(0), {6, 4});
  const auto left = iota<LeftMatrix>(line(), Shard(0), {6, 4});
  const auto first = right + left;
  const auto second = left + right;
  using First = decltype(first)::view_type;
  using Second = decltype(second)::view_type;
  static_assert(std::is_same_v<First::array_layout, Kokkos::LayoutRight>);
  static_assert(std::is_same_v<Second::array_layout, Kokkos::LayoutLeft>);
  EXPECT_EQ(wrong_iota(first, 2), "");
  EXPECT_EQ(wrong_iota(second, 2), "");

  const auto turned = transpose(iota<Matrix>(line(), Shard(1), {4, 6}));
  const auto expected = [](const Extents& at) { return 5 * at[0] + 7 * at[1]; };
  EXPECT_EQ(wrong_piece(turned + right, expected), "");
  EXPECT_EQ(wrong_piece(left + turned, expected), "");
  const auto total = item(ops::sum(turned));
  EXPECT_EQ(total, 276);

  const auto part = slice(iota<Matrix>(line(), Shard(0), {6, 9}), all, {2, 7});
  const auto sums = all_elements(ops::sum(part, 0));
  EXPECT_THAT(sums, ElementsAre(147, 153, 159, 165, 171));
}

TEST(Layouts, const_views_are_read) {
  using ConstMatrix = Kokkos::View<const double**, Kokkos::LayoutRight, TestSpace>;
  const auto x = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto constant = from_local(ConstMatrix(x.to_local()), line(), x.spec(), x.shape());
  const auto sum = constant + constant;
  const auto total = item(ops::sum(constant));
  static_assert(std::is_same_v<decltype(sum)::view_type::value_type, double>);

  EXPECT_EQ(wrong_iota(sum, 2), "");
  EXPECT_EQ(total, 105);
}

TEST(Shapes, tensors_without_dims_and_without_elements) {
  const auto number = full<ScalarOf<double>>(line(), Replicate(), {}, 3.0);
  const auto [twice, sum, position] =
      items(number * 2 + number, ops::sum(number), ops::argmax(number));
  EXPECT_EQ(twice, 9);
  EXPECT_EQ(sum, 3);
  EXPECT_EQ(position, 0);

  const auto nothing = zeros<Matrix>(line(), Shard(1), {4, 0});
  const auto more = nothing + 1.0;
  const auto rows = all_elements(ops::sum(nothing, 1));
  EXPECT_EQ(more.shape(), (Extents{4, 0}));
  EXPECT_EQ(rows, std::vector<double>(4, 0));
}

TEST(Meshes, ranks_off_the_mesh_take_part_in_calls) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(mesh, Shard(0), {5, 3});
  const auto y = iota<Matrix>(mesh, Shard(1), {5, 3});
  const RedistributionScope scope(Redistribution::any);
  const auto sum = x + y;
  const auto position = ops::argmax(x);
  const auto variance = ops::var(x, 0);
  const auto user = call_operator(ScaledSum{2}, x, x);
  const auto [total, at] = items(ops::sum(x), position);
  const bool is_equal = equal(x, y);
  x += 1;

  EXPECT_EQ(wrong_iota(sum, 2), "");
  EXPECT_EQ(wrong_iota(user, 4), "");
  EXPECT_EQ(variance.shape(), Extents{3});
  EXPECT_EQ(total, is_on(mesh) ? 105 : 0);
  EXPECT_EQ(at, is_on(mesh) ? 14 : 0);
  EXPECT_EQ(is_equal, is_on(mesh));
}

TEST(Instances, work_is_ordered_on_the_instance_given_first) {
  const Kokkos::DefaultExecutionSpace exec;
  const auto x = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto y = ops::add(exec, ops::multiply(exec, x, 2), x);
  const auto z = map(exec, Twice(), axpby(exec, 1, x, 1, y));
  map_into(exec, x, Twice(), x);
  const auto sum = ops::sum(exec, x);
  const auto deviation = ops::std(exec, x, 1, 0);
  const auto dot = ops::vdot(exec, x, x);
  const auto [total, square] = items(exec, sum, dot);
  exec.fence();

  EXPECT_EQ(wrong_iota(z, 8), "");
  EXPECT_EQ(total, 210);
  EXPECT_EQ(square, 4 * 1015);
  expect_elements(deviation, testing::Each(testing::DoubleEq(2 * std::sqrt(2.0 / 3))));
}

// --- factories, comparisons, items ---------------------------------------------------------------

TEST(OperatorFactories, ramps_and_unit_matrices) {
  const Traffic traffic;
  const auto up = arange<Vector>(line(), Shard(0), 5);
  const auto down = arange<VectorOf<std::int32_t>>(line(), Cyclic(0, 2), 9, 0, -4);
  const auto parts = linspace<Vector>(line(), Shard(0), 1, 2, 5);
  const auto unit = eye<Matrix>(line(), Shard(0), 3, 4);
  const auto square = eye<LeftMatrix>(line(), Shard(1), 3);
  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  expect_elements(up, ElementsAre(0, 1, 2, 3, 4));
  expect_elements(down, ElementsAre(9, 5, 1));
  expect_elements(parts, ElementsAre(1, 1.25, 1.5, 1.75, 2));
  const auto diagonal = [](const Extents& at) { return at[0] == at[1] ? 1 : 0; };
  EXPECT_EQ(wrong_piece(unit, diagonal), "");
  EXPECT_EQ(wrong_piece(square, diagonal), "");
  EXPECT_THAT(invalid_argument_of([&] { arange<Vector>(line(), Shard(0), 0, 5, 0); }),
              HasSubstr("arange: "));
  EXPECT_THAT(invalid_argument_of([&] { linspace<Vector>(line(), Shard(0), 0, 5, -1); }),
              HasSubstr("linspace: "));
}

TEST(OperatorFactories, of_tensors_like_another_one) {
  const auto x = iota<LeftMatrix>(line(), Cyclic(1, 2), {4, 7});
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const auto zero = zeros_like(x);
  const auto five = full_like(x, 5);
  const auto one_like = ones_like(p);
  EXPECT_EQ(zero.spec(), x.spec());
  EXPECT_EQ(empty_like(x).spec(), x.spec());
  EXPECT_EQ(rand_like(x).spec(), x.spec());
  EXPECT_EQ(randn_like(x).spec(), x.spec());
  EXPECT_EQ(five.spec(), x.spec());
  EXPECT_EQ(one_like.placements(), Placements{Replicate()});
  EXPECT_EQ(full_like(p, 1).placements(), Placements{Replicate()});
  EXPECT_EQ(wrong_piece(zero, [](const Extents&) { return 0; }), "");
  EXPECT_EQ(wrong_piece(five, [](const Extents&) { return 5; }), "");
  EXPECT_THAT(elements_of(one_like.to_local()), ElementsAre(1, 1, 1, 1));
}

TEST(Comparisons, of_whole_tensors_are_the_same_on_all_ranks) {
  const auto x = listed<Vector>(line(), Shard(0), {4}, {1, 2, nan, infinity});
  const auto finite = iota<Vector>(line(), Shard(0), {4});
  const auto near = finite * (1 + 1e-7);
  const auto last = listed<Vector>(line(), Shard(0), {4}, {0, 1, 2, 4});
  const auto r = iota<Vector>(line(), Replicate(), {4});
  const bool self = equal(finite, finite), with_nan = equal(x, x), other = equal(finite, last);
  const bool replica = equal(finite, r),
             shorter = equal(finite, iota<Vector>(line(), Shard(0), {3}));
  const bool close = allclose(near, finite), strict = allclose(near, finite, {1e-9, 0});
  const bool close_nan = allclose(x, x), same_nan = allclose(x, x, {.equal_nan = true});
  const bool opposite = allclose(x, -x, {.equal_nan = true});
  const bool absolute = allclose(finite, last, {.relative = 0, .absolute = 1});

  EXPECT_TRUE(self);
  EXPECT_FALSE(with_nan);
  EXPECT_FALSE(other);
  EXPECT_TRUE(replica);
  EXPECT_FALSE(shorter);
  EXPECT_TRUE(close);
  EXPECT_FALSE(strict);
  EXPECT_FALSE(close_nan);
  EXPECT_TRUE(same_nan);
  EXPECT_FALSE(opposite);
  EXPECT_TRUE(absolute);
}

TEST(Comparisons, of_integers_and_complex_numbers) {
  const auto n = iota<VectorOf<std::int64_t>>(line(), Shard(0), {5});
  const auto z = listed<VectorOf<Complex>>(line(), Shard(0), {2}, {{1, 1}, {0, infinity}});
  const bool same = equal(n, n), close = allclose(n, n + 0), far = allclose(n, n + 1);
  const bool complex_same = equal(z, z), complex_close = allclose(z, z);

  EXPECT_TRUE(same);
  EXPECT_TRUE(close);
  EXPECT_FALSE(far);
  EXPECT_TRUE(complex_same);
  EXPECT_TRUE(complex_close);
}

TEST(Items, of_several_types_come_in_one_exchange) {
  const auto x = iota<Vector>(line(), Shard(0), {6});
  const auto n = iota<VectorOf<std::int32_t>>(line(), Shard(0), {6});
  const auto sum = ops::sum(x), most = ops::max(x);
  const auto whole = full<ScalarOf<double>>(line(), Replicate(), {}, 7.0);
  const auto count = ops::sum(n);
  const auto any = ops::any(n > 4);
  const Traffic traffic;
  const auto values = items(sum, most, count, any, whole);
  static_assert(std::is_same_v<decltype(values),
                               const std::tuple<double, double, std::int64_t, bool, double>>);

  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(values, std::tuple(15.0, 5.0, std::int64_t{15}, true, 7.0));
}

}  // namespace
}  // namespace tessera::test
