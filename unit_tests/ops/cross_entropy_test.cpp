// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "named.hpp"

namespace tessera::test {
namespace {

template <class T>
using HostVectorOf = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Classes = VectorOf<std::int32_t>;

/// Gives logits between -50 and 50.
struct Logits {
  std::int64_t columns;
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    return static_cast<double>((index[0] * columns + index[1]) * 37 % 101 - 50);
  }
};

/// Gives the class of each row.
struct ClassOfRow {
  std::int64_t classes;
  KOKKOS_FUNCTION std::int32_t operator()(const Kokkos::Array<std::int64_t, 1>& index) const {
    return static_cast<std::int32_t>((index[0] * 3 + 1) % classes);
  }
};

/// Returns the cross entropies of rows, computed serially.
template <class Logit>
std::vector<double> expected(const Extents& shape, const Logit& logit) {
  const ClassOfRow class_of_row{shape[1]};
  std::vector<double> result;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < shape[1]; ++j)
      sum += std::exp(static_cast<long double>(logit(i, j)));
    result.push_back(
        static_cast<double>(std::log(sum) - static_cast<long double>(logit(i, class_of_row({i})))));
  }
  return result;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

template <class V>
void expect_losses(const DeviceMesh& mesh, const Target& of_logits, const Target& of_targets,
                   const Extents& shape) {
  const Logits logits{shape[1]};
  const auto x = from_function<V>(mesh, of_logits, shape, logits);
  const auto targets = from_function<Classes>(mesh, of_targets, {shape[0]}, ClassOfRow{shape[1]});
  const auto each = ops::cross_entropies(x, targets);
  const auto elements = all_elements(each);
  const auto mean = item(ops::cross_entropy(x, targets));
  const auto wanted = expected(shape, [&](std::int64_t i, std::int64_t j) {
    return logits({i, j});
  });
  const auto name = to_string(x.spec()) + " and " + to_string(targets.spec());

  EXPECT_FALSE(each.placements().has_partial()) << name;
  ASSERT_EQ(elements.size(), wanted.size()) << name;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(elements[i], wanted[i], 1e-13 * (1 + std::abs(wanted[i]))) << name << ", row " << i;
  const auto wanted_mean = mean_of(wanted);
  EXPECT_NEAR(mean, wanted_mean, 1e-13 * (1 + std::abs(wanted_mean))) << name;
}

TEST(CrossEntropy, under_all_rules_and_layouts) {
  for (const auto& shape : {Extents{4, 10}, Extents{7, 3}, Extents{1, 5}, Extents{2, 300}})
    for (const auto& mesh : line_and_grid()) {
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(world_size()), 0);
      sizes.back() = shape[0];
      std::vector<std::pair<Target, Target>> targets{
          {Shard(0), Shard(0)},        {Shard(0), Replicate()},
          {Shard(1), Replicate()},     {Balanced(0), Balanced(0)},
          {Balanced(1), Replicate()},  {Cyclic(0, 1), Cyclic(0, 1)},
          {Cyclic(1, 2), Replicate()}, {HeadTail(0), HeadTail(0)},
          {HeadTail(1), Replicate()},  {Sizes(0, sizes), Sizes(0, sizes)},
          {Replicate(), Shard(0)},     {Replicate(), Replicate()}};
      if (mesh.ndim() == 2) {
        targets.clear();
        targets.emplace_back(Target{Shard(0), Shard(1)}, Target{Shard(0), Replicate()});
        targets.emplace_back(Target{Shard(1), Shard(1)}, Target{Replicate(), Replicate()});
        targets.emplace_back(Target{Cyclic(1, 1), Shard(0)}, Target{Replicate(), Shard(0)});
        targets.emplace_back(Target{Shard(0), Shard(0)}, Target{Shard(0), Shard(0)});
      }
      for (const auto& [of_logits, of_targets] : targets) {
        expect_losses<Matrix>(mesh, of_logits, of_targets, shape);
        expect_losses<LeftMatrix>(mesh, of_logits, of_targets, shape);
      }
    }
}

TEST(CrossEntropy, of_split_columns_takes_three_reductions_of_one_number_for_each_row) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 2 ranks";
  const auto x =
      listed<Matrix>(mesh, Shard(1), {2, 4},
                     {0, 0, 0, 0, std::log(1.0), std::log(2.0), std::log(3.0), std::log(4.0)});
  const auto targets = listed<Classes>(mesh, Replicate(), {2}, {3, 2});
  const Traffic traffic;
  const auto loss = ops::cross_entropy(x, targets);
  EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 3 : 0);
  EXPECT_EQ(traffic.bytes_received(), is_on(mesh) ? 3 * 2 * 8 : 0);
  const auto value = item(loss);

  EXPECT_EQ(loss.placements(), Placements{Replicate()});
  if (is_on(mesh)) {
    EXPECT_DOUBLE_EQ(value, 1.2951335827229133);
  }
}

TEST(CrossEntropy, keeps_small_losses_beside_large_logits) {
  using Floats = MatrixOf<float>;
  const auto x = listed<Floats>(line(), Shard(1), {1, 2}, {1000, 989});
  const auto targets = full<Classes>(line(), Replicate(), {1}, 0);
  EXPECT_NEAR(item(ops::cross_entropy(x, targets)), std::log1p(std::exp(-11.0)), 2e-7);
}

TEST(CrossEntropy, of_a_wrong_target_is_an_error_on_all_ranks_that_have_a_part_of_its_row) {
  if (world_size() != 4) GTEST_SKIP() << "needs 4 ranks";
  const auto grid = mesh_of({2, 2});
  const auto x = from_function<HostMatrix>(grid, {Shard(0), Shard(1)}, {4, 6}, Logits{6});
  const auto wrong = listed<HostVectorOf<int>>(grid, {Shard(0), Replicate()}, {4}, {0, 6, 1, 2});
  const auto right = listed<HostVectorOf<int>>(grid, {Shard(0), Replicate()}, {4}, {0, 5, 1, 2});

  // Other ranks need nothing of these: whether they hear of the error in time is open.
  bool is_error = false;
  try {
    ops::cross_entropy(x, wrong);
  } catch (const InvalidArgument&) {
    is_error = true;
  }
  const bool has_wrong_row = (*grid.coordinate())[0] == 0;
  EXPECT_TRUE(is_error || !has_wrong_row);
  EXPECT_GT(item(ops::cross_entropy(x, right)), 0);
}

TEST(CrossEntropy, of_split_rows_is_local_and_its_mean_partial) {
  const auto x = from_function<Matrix>(line(), Shard(0), {6, 4}, Logits{4});
  const auto targets = from_function<Classes>(line(), Shard(0), {6}, ClassOfRow{4});
  const Traffic traffic;
  const auto each = ops::cross_entropies(x, targets);
  const auto loss = ops::cross_entropy(x, targets);

  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  EXPECT_EQ(each.placements(), Placements{Shard(0)});
  EXPECT_EQ(loss.placements(), Placements{Partial()});
}

TEST(CrossEntropy, reduces_contributions_first) {
  const auto x = contributions<Matrix>(ReduceOp::sum, {3, 2});
  const auto targets = from_function<Classes>(line(), Replicate(), {3}, ClassOfRow{2});
  const auto elements = all_elements(ops::cross_entropies(x, targets));
  const auto wanted = expected({3, 2}, [](std::int64_t i, std::int64_t j) {
    return static_cast<double>(triangle() * (i * 2 + j));
  });
  const RedistributionScope none(Redistribution::none);
  const auto refused = message_of<PlacementMismatch>([&] { ops::cross_entropy(x, targets); });

  ASSERT_EQ(elements.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(elements[i], wanted[i], 1e-13) << i;
  EXPECT_THAT(refused, HasSubstr("cross_entropy: expected a tensor that is not Partial"));
}

TEST(CrossEntropy, of_infinities_and_nan) {
  const auto x = listed<Matrix>(
      line(), Shard(1), {6, 2},
      {0, -infinity, 0, -infinity, -infinity, -infinity, nan, 0, infinity, 0, infinity, 0});
  const auto targets = listed<Classes>(line(), Replicate(), {6}, {0, 1, 0, 1, 1, 0});
  const auto each = all_elements(ops::cross_entropies(x, targets));

  EXPECT_EQ(each[0], 0);
  EXPECT_EQ(each[1], infinity);
  EXPECT_TRUE(std::isnan(each[2]));
  EXPECT_TRUE(std::isnan(each[3]));
  EXPECT_TRUE(std::isnan(each[4]));
  EXPECT_TRUE(std::isnan(each[5]));
}

TEST(CrossEntropy, of_large_logits_does_not_overflow) {
  const auto x = listed<Matrix>(line(), Shard(1), {1, 2}, {1000, 1000});
  const auto loss = item(ops::cross_entropy(x, full<Classes>(line(), Replicate(), {1}, 1)));

  EXPECT_NEAR(loss, std::log(2.0), 1e-12);
}

TEST(CrossEntropy, of_no_rows_has_no_mean) {
  const auto x = zeros<Matrix>(line(), Shard(0), {0, 3});
  const auto targets = zeros<Classes>(line(), Shard(0), {0});
  const auto each = ops::cross_entropies(x, targets);
  const auto loss = item(ops::cross_entropy(x, targets));

  EXPECT_EQ(each.shape(), Extents{0});
  EXPECT_TRUE(std::isnan(loss));
}

TEST(CrossEntropy, of_views_floats_and_other_integers) {
  const MatrixOf<float> logits("logits", 2, 2);
  change_on_host(logits, [](const auto& host) { host(1, 0) = std::log(3.0F); });
  const VectorOf<std::uint8_t> targets("targets", 2);
  const auto each = elements_of(ops::cross_entropies(logits, targets));
  const auto loss =
      elements_of(ops::cross_entropy(Kokkos::DefaultExecutionSpace(), logits, targets));
  const auto tensor = ops::cross_entropies(from_local(logits, line(), Replicate(), {2, 2}),
                                           zeros<VectorOf<std::int64_t>>(line(), Replicate(), {2}));
  static_assert(std::is_same_v<decltype(tensor)::view_type::value_type, float>);

  EXPECT_FLOAT_EQ(each[0], std::log(2.0F));
  EXPECT_FLOAT_EQ(each[1], std::log(4.0F / 3.0F));
  EXPECT_FLOAT_EQ(loss[0], (each[0] + each[1]) / 2);
  EXPECT_EQ(elements_of(tensor.to_local()), each);
}

TEST(CrossEntropy, shapes_placements_and_targets_are_checked) {
  const auto x = iota<HostMatrix>(line(), Replicate(), {2, 4});
  const auto with = [&](const std::vector<int>& values) {
    const auto targets = listed<HostVectorOf<int>>(
        line(), Replicate(), {static_cast<std::int64_t>(values.size())}, values);
    return invalid_argument_of([&] { ops::cross_entropy(x, targets); });
  };
  const auto too_many = with({0, 1, 2}), too_large = with({0, 4}), negative = with({-1, 0});
  const auto of_view = invalid_argument_of(
      [&] { ops::cross_entropies(x.to_local(), HostVectorOf<int>("three", 3)); });

  EXPECT_THAT(too_many, HasSubstr("cross_entropy: expected one target for each row, got logits (2, "
                                  "4) and targets (3"));
  EXPECT_THAT(of_view, HasSubstr("cross_entropy: expected one target for each row"));
  EXPECT_EQ(too_large, "cross_entropy: expected a target in [0, 4), got 4");
  EXPECT_EQ(negative, "cross_entropy: expected a target in [0, 4), got -1");
  if (world_size() > 1) {
    const auto split = iota<HostMatrix>(line(), Shard(1), {2, 4});
    const auto targets = zeros<HostVectorOf<int>>(line(), Shard(0), {2});
    EXPECT_THAT(message_of<PlacementMismatch>([&] { ops::cross_entropy(split, targets); }),
                HasSubstr("cross_entropy: expected placements that fit: x is S(1), y is S(0)"));
  }
}

}  // namespace
}  // namespace tessera::test
