// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "named.hpp"

namespace tessera::test {
namespace {

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

/// Gives numbers of which many are equal.
struct Scrambled {
  std::int64_t columns;

  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    return static_cast<double>((index[0] * columns + index[1]) * 7919 % 1009);
  }
};

TEST(Operators, reductions_of_many_elements_are_shared_among_threads) {
  for (const auto& shape :
       {Extents{2, 70000}, Extents{70000, 3}, Extents{301, 302}, Extents{20000, 512}}) {
    const auto rows = static_cast<std::size_t>(shape[0]),
               columns = static_cast<std::size_t>(shape[1]);
    const Scrambled scrambled{shape[1]};
    std::vector<double> values, row_sums(rows), column_sums(columns);
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        values.push_back(scrambled({i, j}));
        row_sums[static_cast<std::size_t>(i)] += values.back();
        column_sums[static_cast<std::size_t>(j)] += values.back();
      }
    const auto total = std::accumulate(row_sums.begin(), row_sums.end(), 0.0);
    const auto most = expected_positions(values, rows, columns, true);
    const auto least = expected_positions(values, rows, columns, false);

    for (const Target& target : {Target(Shard(0)), Target(Cyclic(1, 16)), Target(Replicate())}) {
      const auto x = from_function<Matrix>(line(), target, shape, scrambled);
      const auto y = from_function<LeftMatrix>(line(), target, shape, scrambled);
      const auto largest = positions_of(ops::argmax, x), smallest = positions_of(ops::argmin, y);
      const auto sum = item(ops::sum(x));
      const auto sums_of_rows = all_elements(ops::sum(x, 1));
      const auto sums_of_columns = all_elements(ops::sum(x, 0));
      const auto sums_of_left_rows = all_elements(ops::sum(y, 1));

      EXPECT_TRUE(largest == most) << to_string(x.spec());
      EXPECT_TRUE(smallest == least) << to_string(x.spec());
      EXPECT_EQ(sum, total);
      EXPECT_TRUE(sums_of_rows == row_sums) << to_string(x.spec());
      EXPECT_TRUE(sums_of_columns == column_sums) << to_string(x.spec());
      EXPECT_TRUE(sums_of_left_rows == row_sums) << to_string(x.spec());
    }
  }
}

TEST(Operators, positions_along_dims_that_do_not_follow_one_another) {
  using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
  using LeftCube = Kokkos::View<double***, Kokkos::LayoutLeft, TestSpace>;
  const auto number = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<double>((i * 15 + j * 5 + k) * 7 % 11);
  };
  const Extents shape{4, 3, 5};
  const auto make = [&]<class V>(std::type_identity<V>) {
    const auto view = detail::allocate<V>(shape, "cube");
    change_on_host(view, [&](const auto& host) {
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 3; ++j)
          for (std::int64_t k = 0; k < 5; ++k) host(i, j, k) = number(i, j, k);
    });
    return redistribute(from_local(view, line(), Replicate()), {Shard(0)});
  };
  const auto x = make(std::type_identity<Cube>{});
  const auto y = make(std::type_identity<LeftCube>{});
  std::vector<std::int64_t> outer(3), last(12), all(1);
  std::vector<double> most_outer(3, -1), most_last(12, -1);
  double most = -1;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t k = 0; k < 5; ++k) {
        const auto value = number(i, j, k);
        const auto take = [&](double& best, std::int64_t& position, std::int64_t here) {
          if (value <= best) return;
          best = value;
          position = here;
        };
        const auto a = static_cast<std::size_t>(j), b = static_cast<std::size_t>(i * 3 + j);
        take(most_outer[a], outer[a], i * 5 + k);
        take(most_last[b], last[b], k);
        take(most, all[0], (i * 3 + j) * 5 + k);
      }

  const auto outer_x = all_elements(ops::argmax(x, Dims{0, 2}));
  const auto outer_y = all_elements(ops::argmax(y, Dims{0, 2}));
  const auto last_x = all_elements(ops::argmax(x, 2)), last_y = all_elements(ops::argmax(y, 2));
  const auto all_x = all_elements(ops::argmax(x)), all_y = all_elements(ops::argmax(y));
  EXPECT_EQ(outer_x, outer);
  EXPECT_EQ(outer_y, outer);
  EXPECT_EQ(last_x, last);
  EXPECT_EQ(last_y, last);
  EXPECT_EQ(all_x, all);
  EXPECT_EQ(all_y, all);
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

TEST(Operators, norms_and_variances_are_within_the_bounds_that_they_promise) {
  const Extents shape{7, 301};
  const auto size = static_cast<long double>(shape[0] * shape[1]);
  const auto unit = static_cast<long double>(std::numeric_limits<double>::epsilon()) / 2;
  const auto x = from_function<Matrix>(line(), Shard(1), shape, Scrambled{shape[1]}) / 7.0 + 100.0;
  long double sum = 0, squares = 0, distances = 0;
  const auto values = all_elements(x);
  for (const auto value : values) {
    sum += value;
    squares += static_cast<long double>(value) * value;
  }
  for (const auto value : values) distances += (value - sum / size) * (value - sum / size);
  const auto n = static_cast<long double>(shape[0] * x.spec().largest_local_shape()[1]);
  const auto bound = n + std::ceil(std::log2(static_cast<long double>(world_size())));

  const auto one_norm = item(ops::norm(x, Norm::one)), two_norm = item(ops::norm(x));
  const auto variance = item(ops::var(x, Dims{0, 1}, 0)), mean = item(ops::mean(x));

  EXPECT_LE(std::abs(one_norm - sum), (bound + 2) * unit * sum);
  EXPECT_LE(std::abs(two_norm - std::sqrt(squares)), (bound + 2) * unit * std::sqrt(squares));
  const auto of_mean = (mean - sum / size) * (mean - sum / size);
  EXPECT_LE(std::abs(variance - distances / size), (bound + 4) * unit * distances / size + of_mean);
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

}  // namespace
}  // namespace tessera::test
