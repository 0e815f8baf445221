// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <vector>

#include "named.hpp"

namespace tessera::test {
namespace {

/// Holds what the family gives for a matrix along one dim, computed serially.
struct Expected {
  std::vector<double> softmax, log_softmax, logsumexp;
};

Expected expected(const std::vector<double>& values, std::int64_t rows, std::int64_t columns,
                  int dim) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i * columns + j);
  };
  Expected result{std::vector<double>(values.size()), std::vector<double>(values.size()), {}};
  const auto lines = dim == 0 ? columns : rows, length = dim == 0 ? rows : columns;
  for (std::int64_t line = 0; line < lines; ++line) {
    const auto index = [&](std::int64_t k) { return dim == 0 ? at(k, line) : at(line, k); };
    long double sum = 0;
    for (std::int64_t k = 0; k < length; ++k)
      sum += std::exp(static_cast<long double>(values[index(k)]));
    const auto log = std::log(sum);
    result.logsumexp.push_back(static_cast<double>(log));
    for (std::int64_t k = 0; k < length; ++k) {
      const auto value = static_cast<long double>(values[index(k)]);
      result.softmax[index(k)] = static_cast<double>(std::exp(value) / sum);
      result.log_softmax[index(k)] = static_cast<double>(value - log);
    }
  }
  return result;
}

/// Gives numbers between -50 and 50.
struct Spread {
  std::int64_t columns;
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    return static_cast<double>((index[0] * columns + index[1]) * 37 % 101 - 50);
  }
};

void expect_close(const std::vector<double>& got, const std::vector<double>& wanted,
                  const std::string& name) {
  ASSERT_EQ(got.size(), wanted.size()) << name;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 1e-13 * (1 + std::abs(wanted[i]))) << name << ", element " << i;
}

template <class V>
void expect_family(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  const Spread spread{shape[1]};
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape[0]; ++i)
    for (std::int64_t j = 0; j < shape[1]; ++j) values.push_back(spread({i, j}));
  const auto x = from_function<V>(mesh, target, shape, spread);
  for (const int dim : {0, 1}) {
    const auto wanted = expected(values, shape[0], shape[1], dim);
    const auto soft = ops::softmax(x, dim), logs = ops::log_softmax(x, dim - 2);
    const auto sums = ops::logsumexp(x, dim);
    const auto name = to_string(x.spec()) + " along dim " + std::to_string(dim);

    EXPECT_EQ(soft.spec(), x.spec()) << name;
    EXPECT_EQ(logs.spec(), x.spec()) << name;
    EXPECT_FALSE(sums.placements().has_partial()) << name;
    expect_close(all_elements(soft), wanted.softmax, "softmax of " + name);
    expect_close(all_elements(logs), wanted.log_softmax, "log_softmax of " + name);
    expect_close(all_elements(sums), wanted.logsumexp, "logsumexp of " + name);
  }
}

TEST(Softmax, along_any_dim_under_all_rules_and_layouts) {
  for (const auto& shape : {Extents{4, 10}, Extents{7, 3}, Extents{1, 5}, Extents{2, 300}})
    for (const auto& mesh : line_and_grid()) {
      std::vector<Target> targets{Shard(0),     Shard(1),     Balanced(0), Balanced(1),
                                  Cyclic(0, 1), Cyclic(1, 2), HeadTail(1), Replicate()};
      if (mesh.ndim() == 2)
        targets = {{Shard(0), Shard(1)},
                   {Shard(1), Shard(1)},
                   {Cyclic(1, 1), Replicate()},
                   {Replicate(), Shard(0)}};
      for (const auto& target : targets) {
        expect_family<Matrix>(mesh, target, shape);
        expect_family<LeftMatrix>(mesh, target, shape);
      }
    }
}

TEST(Softmax, o4_takes_two_reductions_of_one_number_for_each_row) {
  const auto x = from_function<Matrix>(line(), Shard(1), {4, 10}, Spread{10});
  const Traffic traffic;
  const auto y = ops::softmax(x, 1);

  EXPECT_EQ(traffic.exchanges(), 2 * one());
  EXPECT_EQ(y.placements(), Placements{Shard(1)});
  const auto sums = all_elements(reduce_partial(ops::sum(y, 1)));
  for (const auto sum : sums) EXPECT_NEAR(sum, 1, 4e-15);
}

TEST(Softmax, is_local_along_a_dim_that_is_whole) {
  const auto x = from_function<Matrix>(line(), Shard(0), {4, 10}, Spread{10});
  const Traffic traffic;
  ops::softmax(x, 1), ops::log_softmax(x, 1), ops::logsumexp(x, 1);

  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
}

TEST(Softmax, reduces_contributions_first) {
  const auto x = contributions<Vector>(ReduceOp::sum, {4});
  const auto y = ops::softmax(x, 0);

  if (world_size() > 1) {
    EXPECT_EQ(y.placements(), Placements{Replicate()});
  }
  const auto wanted = expected({0, 1.0 * triangle(), 2.0 * triangle(), 3.0 * triangle()}, 1, 4, 1);
  expect_close(all_elements(y), wanted.softmax, "contributions");
}

TEST(Softmax, of_infinities_and_nan) {
  const auto x = listed<Matrix>(
      line(), Shard(1), {4, 3},
      {-infinity, -infinity, -infinity, 0, -infinity, 0, 1, nan, 2, 1000, 1000, -1000});
  const auto sums = all_elements(ops::logsumexp(x, 1));
  const auto soft = all_elements(ops::softmax(x, 1)), logs = all_elements(ops::log_softmax(x, 1));

  EXPECT_EQ(sums[0], -infinity);
  EXPECT_DOUBLE_EQ(sums[1], std::log(2.0));
  EXPECT_TRUE(std::isnan(sums[2]));
  EXPECT_DOUBLE_EQ(sums[3], 1000 + std::log(2.0));
  for (const std::size_t i : {0, 1, 2, 6, 7, 8}) EXPECT_TRUE(std::isnan(soft[i])) << i;
  EXPECT_EQ(soft[3], 0.5);
  EXPECT_EQ(soft[4], 0);
  EXPECT_EQ(logs[4], -infinity);
  EXPECT_EQ(soft[9], 0.5);
  EXPECT_EQ(soft[11], 0);
}

TEST(Softmax, of_infinity_is_nan_and_its_logsumexp_infinity) {
  const auto x = listed<Matrix>(line(), Shard(1), {2, 2}, {infinity, 5, infinity, 1000});
  for (const auto value : all_elements(ops::softmax(x, 1))) EXPECT_TRUE(std::isnan(value));
  for (const auto value : all_elements(ops::log_softmax(x, 1))) EXPECT_TRUE(std::isnan(value));
  EXPECT_THAT(all_elements(ops::logsumexp(x, 1)), ElementsAre(infinity, infinity));
}

TEST(Softmax, keeps_logarithms_beside_large_elements) {
  const auto x = listed<Matrix>(line(), Shard(1), {2, 2}, {1e17, 1e17, 1000, 989});
  const auto logs = all_elements(ops::log_softmax(x, 1));
  EXPECT_DOUBLE_EQ(logs[0], -std::log(2.0));
  EXPECT_DOUBLE_EQ(logs[1], -std::log(2.0));
  EXPECT_NEAR(logs[2], -std::log1p(std::exp(-11.0)), 1e-16);
}

TEST(Softmax, of_no_elements) {
  for (const auto& shape : {Extents{0, 4}, Extents{4, 0}})
    for (const auto& target : {Target(Shard(0)), Target(Shard(1)), Target(Replicate())}) {
      const auto x = from_function<Matrix>(line(), target, shape, Spread{1});
      EXPECT_THAT(all_elements(ops::softmax(x, 1)), IsEmpty());
      const std::vector<double> sums(static_cast<std::size_t>(shape[0]), -infinity);
      EXPECT_EQ(all_elements(ops::logsumexp(x, 1)), sums);
    }
}

TEST(Softmax, of_views_and_floats) {
  const Kokkos::View<float*, Kokkos::LayoutRight, TestSpace> view("view", 2);
  change_on_host(view, [](const auto& host) { host(1) = std::log(3.0F); });
  const auto soft = elements_of(ops::softmax(view, 0));
  const auto sum = elements_of(ops::logsumexp(view, -1));

  EXPECT_FLOAT_EQ(soft[0], 0.25F);
  EXPECT_FLOAT_EQ(soft[1], 0.75F);
  EXPECT_FLOAT_EQ(sum[0], std::log(4.0F));
}

TEST(Softmax, dims_are_checked) {
  const auto x = iota<Matrix>(line(), Shard(0), {4, 4});
  EXPECT_THAT(invalid_argument_of([&] { ops::softmax(x, 2); }),
              HasSubstr("softmax: expected dims of a tensor with 2 dims, got 2"));
}

TEST(Softmax, o13_takes_the_rules_of_a_program) {
  register_sharding(ops::softmax, [](const OperatorCall&) {
    return std::vector<OperatorRule>{{Replicate(), {Replicate()}}};
  });
  const auto x = iota<Matrix>(line(), Shard(1), {4, 4});
  const RedistributionScope any(Redistribution::any);
  const auto y = ops::softmax(x, 1);
  unregister_sharding(ops::softmax);

  EXPECT_EQ(y.placements(), Placements{Replicate()});
}

TEST(Softmax, takes_rules_that_depend_on_the_dim_of_the_call) {
  register_sharding(ops::softmax, [](const OperatorCall& call) {
    std::vector<OperatorRule> rules{{Replicate(), {Replicate()}}};
    for (int dim = 0; dim < call.tensor_dims(0); ++dim)
      if (dim != call.integers("dims").front()) rules.push_back({Shard(dim), {Shard(dim)}});
    return rules;
  });
  const auto rows = iota<Matrix>(line(), Shard(0), {4, 4});
  const auto columns = iota<Matrix>(line(), Shard(1), {4, 4});
  const Traffic traffic;
  const auto y = ops::softmax(rows, 1);
  const int exchanges = traffic.exchanges();
  const auto refused = message_of<PlacementMismatch>([&] { ops::softmax(columns, 1); });
  unregister_sharding(ops::softmax);

  EXPECT_EQ(exchanges, 0);
  EXPECT_EQ(y.placements(), Placements{Shard(0)});
  if (world_size() == 1) return;
  EXPECT_THAT(refused, HasSubstr("softmax: expected placements that fit: x is S(1)"));
}

}  // namespace
}  // namespace tessera::test
