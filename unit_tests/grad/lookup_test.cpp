// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Gradients of take and of cross entropies.
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/grad/lookup.hpp>
#include <tessera/grad/movement.hpp>
#include <tessera/grad/tape.hpp>

#include "../ops/named.hpp"

namespace tessera::test {
namespace {

using grad::Tape;
using testing::Each;
using Indices = VectorOf<std::int32_t>;
using ComplexMatrix = MatrixOf<Complex>;

/// Gives gradients: integers between -6 and 6, so that sums are exact in any order.
template <class T = double>
struct SomeGradient {
  template <std::size_t N>
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, N>& index) const {
    std::int64_t number = 5;
    for (std::size_t d = 0; d < N; ++d) number = number * 31 + index[d] * 7 + 3;
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(number % 13 - 6);
    else
      return T(static_cast<double>(number % 13 - 6), static_cast<double>(number % 11 - 5));
  }
};

/// Returns indices of an extent, some of which are negative or repeat.
std::vector<std::int32_t> some_indices(std::int64_t extent) {
  const auto n = static_cast<std::int32_t>(extent);
  return {n - 1, 0, -1, n / 2, -n, n - 1, 0};
}

/// Returns the gradient of a matrix of which take has taken rows, or columns, computed serially;
/// row-major.
template <class T = double>
std::vector<T> expected_sums(const Extents& shape, const std::vector<std::int32_t>& indices,
                             int dim, double factor = 1) {
  std::vector<T> result(static_cast<std::size_t>(product(shape)));
  const auto extent = shape[static_cast<std::size_t>(dim)], others = shape[dim == 0 ? 1 : 0];
  for (std::size_t i = 0; i < indices.size(); ++i)
    for (std::int64_t k = 0; k < others; ++k) {
      const auto taken = static_cast<std::int64_t>(i);
      const auto named = indices[i] < 0 ? indices[i] + extent : indices[i];
      const auto to = dim == 0 ? named * shape[1] + k : k * shape[1] + named;
      const Kokkos::Array<std::int64_t, 2> from{dim == 0 ? taken : k, dim == 0 ? k : taken};
      result[static_cast<std::size_t>(to)] += T(SomeGradient<T>()(from) * factor);
    }
  return result;
}

/// Returns a gradient of a value with these placements; Replicate for Partial.
template <class V, class Y>
DTensor<V> gradient_like(const Y& y) {
  const auto whole = from_function<V>(y.device_mesh(), all_replicate, y.shape(),
                                      SomeGradient<typename V::value_type>());
  return redistribute(whole, Target(detail::like_spec(y.spec())));
}

/// Returns a gradient of which all ranks hold everything.
template <class V, class Y>
DTensor<V> whole_gradient(const Y& y) {
  return from_function<V>(y.device_mesh(), all_replicate, y.shape(),
                          SomeGradient<typename V::value_type>());
}

template <class V>
void expect_take_gradient(const DeviceMesh& mesh, const Target& of_table, const Target& of_indices,
                          const Extents& shape) {
  using T = typename V::value_type;
  for (const int dim : {0, 1}) {
    const auto list = some_indices(shape[static_cast<std::size_t>(dim)]);
    const auto indices = listed<Indices>(mesh, of_indices, {7}, list);
    for (const bool is_whole : {false, true}) {
      Tape tape;
      const auto table = tape.watch(zeros<V>(mesh, of_table, shape));
      const RedistributionScope any(Redistribution::any);
      const auto y = ops::take(table, indices, dim - 2);
      tape.backward(y, is_whole ? whole_gradient<V>(y) : gradient_like<V>(y));
      const auto elements = all_elements(table.grad());
      const auto name = to_string(table.spec()) + " taken by " + to_string(indices.spec()) +
                        " along dim " + std::to_string(dim);

      EXPECT_EQ(table.grad().spec(), table.spec()) << name;
      EXPECT_EQ(elements, expected_sums<T>(shape, list, dim)) << name;
    }
  }
}

TEST(GradTake, adds_up_in_the_rows_taken_under_all_placements_and_layouts) {
  for (const auto& shape : {Extents{5, 4}, Extents{9, 2}, Extents{1, 3}})
    for (const auto& mesh : line_and_grid()) {
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(world_size()), 0);
      sizes.back() = shape[0];
      std::vector<Target> of_table{Shard(0),     Shard(1),    Balanced(0),     Cyclic(0, 1),
                                   Cyclic(1, 2), HeadTail(0), Sizes(0, sizes), Replicate()};
      std::vector<Target> of_indices{Replicate(), Shard(0), Cyclic(0, 2)};
      if (mesh.ndim() == 2) {
        of_table = {{Shard(0), Shard(1)},        {Shard(1), Shard(0)},
                    {Shard(0), Shard(0)},        {Shard(1), Shard(1)},
                    {Replicate(), Cyclic(0, 1)}, {{Shard(0), Shard(0)}, {1, 0}}};
        of_indices = {{Replicate(), Replicate()}, {Shard(0), Replicate()}, {Replicate(), Shard(0)}};
      }
      for (const auto& table : of_table)
        for (const auto& indices : of_indices) {
          expect_take_gradient<Matrix>(mesh, table, indices, shape);
          expect_take_gradient<LeftMatrix>(mesh, table, indices, shape);
        }
    }
}

TEST(GradTake, of_floats_and_complex_numbers) {
  for (const Target& target : {Target(Shard(0)), Target(Shard(1)), Target(Replicate())}) {
    expect_take_gradient<MatrixOf<float>>(line(), target, Replicate(), {5, 4});
    expect_take_gradient<ComplexMatrix>(line(), target, Replicate(), {5, 4});
    expect_take_gradient<MatrixOf<Complex, Kokkos::LayoutLeft>>(line(), target, Shard(0), {5, 4});
  }
}

TEST(GradTake, of_a_table_whose_rows_are_split_needs_no_exchange) {
  Tape tape;
  const auto table = tape.watch(zeros<Matrix>(line(), Shard(0), {9, 2}));
  const auto list = some_indices(9);
  const auto y = redistribute(ops::take(table, listed<Indices>(line(), Replicate(), {7}, list)));
  const auto dy = whole_gradient<Matrix>(y);
  const Traffic traffic;
  tape.backward(y, dy);
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto elements = all_elements(table.grad());

  EXPECT_EQ(table.grad().placements(), Placements{Shard(0)});
  EXPECT_EQ(elements, expected_sums({9, 2}, list, 0));
}

TEST(GradTake, of_a_table_whose_columns_are_split_needs_no_exchange) {
  Tape tape;
  const auto table = tape.watch(zeros<Matrix>(line(), Shard(1), {5, 4}));
  const auto y = ops::take(table, listed<Indices>(line(), Replicate(), {7}, some_indices(5)));
  const auto dy = gradient_like<Matrix>(y);
  const Traffic traffic;
  tape.backward(y, dy);

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(table.grad().placements(), Placements{Shard(1)});
}

TEST(GradTake, of_indices_that_are_split_is_reduced_once) {
  Tape tape;
  const auto table = tape.watch(zeros<Matrix>(line(), Replicate(), {5, 4}));
  const auto list = some_indices(5);
  const auto y = ops::take(table, listed<Indices>(line(), Shard(0), {7}, list));
  const auto dy = gradient_like<Matrix>(y);
  const Traffic traffic;
  tape.backward(y, dy);
  EXPECT_EQ(traffic.exchanges(), one());
  const auto elements = all_elements(table.grad());

  EXPECT_EQ(elements, expected_sums({5, 4}, list, 0));
}

TEST(GradTake, of_contributions_to_the_gradient_stays_contributions_until_the_table) {
  Tape tape;
  const auto table = tape.watch(zeros<Matrix>(line(), Replicate(), {5, 4}));
  const auto list = some_indices(5);
  const auto y = ops::take(table, listed<Indices>(line(), Replicate(), {7}, list));
  const auto dy =
      from_local(whole_gradient<Matrix>(y).to_local(), line(), Partial(), Extents{7, 4});
  const Traffic traffic;
  tape.backward(y, dy);
  EXPECT_EQ(traffic.exchanges(), one());
  const auto elements = all_elements(table.grad());

  EXPECT_EQ(elements, expected_sums({5, 4}, list, 0, world_size()));
}

TEST(GradTake, allocates_only_the_rows_that_a_rank_has) {
  const auto indices = listed<Indices>(line(), Replicate(), {7}, some_indices(9));
  const auto dy = ones<Matrix>(line(), Replicate(), {7, 2});
  for (const Target& target : {Target(Shard(0)), Target(Cyclic(0, 1)), Target(HeadTail(0))}) {
    const auto spec = zeros<Matrix>(line(), target, {9, 2}).spec();
    const auto sums = detail::take_adjoint<Matrix>(dy, indices, spec, 0);
    EXPECT_EQ(sums.spec(), spec);
  }
}

TEST(GradTake, of_indices_with_any_number_of_dims) {
  Tape tape;
  const auto table = tape.watch(zeros<Matrix>(line(), Replicate(), {4, 3}));
  const auto columns = listed<MatrixOf<std::int64_t>>(line(), Shard(1), {2, 2}, {2, 0, -1, 2});
  const auto cube = ops::take(table, columns, 1);
  tape.backward(ops::sum(cube));
  expect_elements(table.grad(), ElementsAre(1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3));

  const auto vector = tape.watch(zeros<Vector>(line(), Shard(0), {5}));
  const Kokkos::View<int, Kokkos::LayoutRight, TestSpace> last("last");
  change_on_host(last, [](const auto& host) { host() = -1; });
  tape.backward(ops::multiply(ops::take(vector, ImplicitReplication(line())(last)), 7));
  expect_elements(vector.grad(), ElementsAre(0, 0, 0, 0, 7));
}

TEST(GradTake, of_nothing_is_zero) {
  const auto none = zeros<Indices>(line(), Replicate(), {0});
  for (const auto& shape : {Extents{5, 3}, Extents{0, 3}, Extents{4, 0}})
    for (const Target& target : {Target(Shard(0)), Target(Shard(1)), Target(Replicate())}) {
      Tape tape;
      const auto table = tape.watch(ones<Matrix>(line(), target, shape));
      tape.backward(ops::sum(ops::take(table, none)));
      EXPECT_EQ(table.grad().shape(), shape);
      expect_elements(table.grad(), Each(0));
    }
}

TEST(GradTake, of_views) {
  Tape tape;
  const auto view = iota_view<LeftMatrix>({4, 3});
  const auto table = tape.watch_local(view);
  const VectorOf<std::uint8_t> indices("indices", 3);
  change_on_host(indices, [](const auto& host) { host(1) = 2; });
  const auto rows = ops::take(table, indices), columns = ops::take(table, indices, -1);
  const Traffic traffic;
  tape.backward(ops::add(ops::sum(rows), ops::multiply(ops::sum(columns), 10)));

  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  EXPECT_THAT(elements_of(table.grad()), ElementsAre(22, 2, 12, 20, 0, 10, 21, 1, 11, 20, 0, 10));
}

/// Gives indices of an extent in no order, about half of them negative.
struct ScatteredIndices {
  std::int64_t extent;

  KOKKOS_FUNCTION std::int32_t operator()(const Kokkos::Array<std::int64_t, 1>& index) const {
    const auto positive = index[0] * 7919 % extent;
    return static_cast<std::int32_t>(index[0] % 2 == 0 ? positive : positive - extent);
  }
};

TEST(GradTake, of_many_rows_is_shared_among_threads) {
  const Extents shape{97, 40};
  const ScatteredIndices scattered{shape[0]};
  std::vector<std::int32_t> list;
  for (std::int64_t i = 0; i < 3000; ++i) list.push_back(scattered({i}));
  const auto wanted = expected_sums(shape, list, 0);
  const auto indices = from_function<Indices>(line(), Replicate(), {3000}, scattered);
  const auto expect_sums = [&]<class V>(std::type_identity<V>, const Target& target) {
    Tape tape;
    const auto table = tape.watch(zeros<V>(line(), target, shape));
    const auto y = ops::take(table, indices);
    tape.backward(y, whole_gradient<V>(y));
    EXPECT_TRUE(all_elements(table.grad()) == wanted) << to_string(table.spec());
  };
  for (const Target& target : {Target(Shard(0)), Target(Cyclic(0, 8)), Target(Shard(1))}) {
    expect_sums(std::type_identity<Matrix>(), target);
    expect_sums(std::type_identity<LeftMatrix>(), target);
  }
}

using Classes = VectorOf<std::int32_t>;

/// Gives logits between -5 and 5, of which one may differ by `change`.
struct SomeLogits {
  std::int64_t columns;
  std::int64_t changed = -1;  ///< row-major number of the logit
  double change = 0;

  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    const auto number = index[0] * columns + index[1];
    return static_cast<double>(number * 37 % 101 - 50) / 10 + (number == changed ? change : 0);
  }
};

/// Gives the class of each row.
struct ClassOfRow {
  std::int64_t classes;
  KOKKOS_FUNCTION std::int32_t operator()(const Kokkos::Array<std::int64_t, 1>& index) const {
    return static_cast<std::int32_t>((index[0] * 3 + 1) % classes);
  }
};

/// Returns the gradient of cross entropies, computed serially; row-major.
template <class Logit, class Slope>
std::vector<double> expected_gradient(const Extents& shape, const Logit& logit,
                                      const Slope& slope) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < shape[1]; ++j)
      sum += std::exp(static_cast<long double>(logit(i, j)));
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      const auto share = std::exp(static_cast<long double>(logit(i, j))) / sum;
      const int is_target = ClassOfRow{shape[1]}({i}) == j ? 1 : 0;
      result.push_back(static_cast<double>((share - is_target) * slope(i)));
    }
  }
  return result;
}

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<double>& wanted, double tolerance,
                 const std::string& name) {
  ASSERT_EQ(got.size(), wanted.size()) << name;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance) << name << ", element " << i;
}

template <class V>
void expect_cross_entropy_gradient(const DeviceMesh& mesh, const Target& of_logits,
                                   const Target& of_targets, const Extents& shape) {
  const SomeLogits logits{shape[1]};
  const auto logit = [&](std::int64_t i, std::int64_t j) { return logits({i, j}); };
  const auto targets = from_function<Classes>(mesh, of_targets, {shape[0]}, ClassOfRow{shape[1]});
  const auto tensor = from_function<V>(mesh, of_logits, shape, logits);
  const auto name = to_string(tensor.spec()) + " and " + to_string(targets.spec());

  Tape tape;
  const auto x = tape.watch(tensor);
  tape.backward(ops::cross_entropy(x, targets));
  const auto of_mean = all_elements(x.grad());
  EXPECT_EQ(x.grad().spec(), x.spec()) << name;
  const auto rows = static_cast<double>(shape[0]);
  expect_near(of_mean, expected_gradient(shape, logit, [&](std::int64_t) { return 1 / rows; }),
              1e-13, "mean of " + name);

  tape.zero_grad();
  const auto each = ops::cross_entropies(x, targets);
  tape.backward(each, whole_gradient<Vector>(each));
  const auto of_each = all_elements(x.grad());
  EXPECT_EQ(x.grad().spec(), x.spec()) << name;
  const auto slope = [](std::int64_t i) {
    return SomeGradient<>()(Kokkos::Array<std::int64_t, 1>{i});
  };
  expect_near(of_each, expected_gradient(shape, logit, slope), 1e-12, name);
}

TEST(GradCrossEntropy, is_right_under_all_placements_and_layouts) {
  for (const auto& shape : {Extents{4, 10}, Extents{7, 3}, Extents{1, 5}, Extents{3, 1}})
    for (const auto& mesh : line_and_grid()) {
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(world_size()), 0);
      sizes.back() = shape[0];
      std::vector<std::pair<Target, Target>> targets{
          {Shard(0), Shard(0)},         {Shard(0), Replicate()},
          {Shard(1), Replicate()},      {Balanced(1), Replicate()},
          {Cyclic(0, 1), Cyclic(0, 1)}, {Cyclic(1, 2), Replicate()},
          {HeadTail(1), Replicate()},   {Sizes(0, sizes), Sizes(0, sizes)},
          {Replicate(), Shard(0)},      {Replicate(), Replicate()}};
      if (mesh.ndim() == 2) {
        targets.clear();
        targets.emplace_back(Target{Shard(0), Shard(1)}, Target{Shard(0), Replicate()});
        targets.emplace_back(Target{Shard(1), Shard(1)}, Target{Replicate(), Replicate()});
        targets.emplace_back(Target{Cyclic(1, 1), Shard(0)}, Target{Replicate(), Shard(0)});
        targets.emplace_back(Target{Shard(0), Shard(0)}, Target{Shard(0), Shard(0)});
      }
      for (const auto& [of_logits, of_targets] : targets) {
        expect_cross_entropy_gradient<Matrix>(mesh, of_logits, of_targets, shape);
        expect_cross_entropy_gradient<LeftMatrix>(mesh, of_logits, of_targets, shape);
      }
    }
}

TEST(GradCrossEntropy, agrees_with_central_differences) {
  const Extents shape{3, 4};
  const auto targets = from_function<Classes>(line(), Replicate(), {3}, ClassOfRow{4});
  Tape tape;
  const auto x = tape.watch(from_function<Matrix>(line(), Shard(1), shape, SomeLogits{4}));
  tape.backward(ops::cross_entropy(x, targets));
  const auto gradient = all_elements(x.grad());
  constexpr double step = 1e-5;
  std::vector<double> differences;
  for (std::int64_t k = 0; k < product(shape); ++k) {
    const auto loss = [&](double change) {
      const SomeLogits changed{4, k, change};
      return item(
          ops::cross_entropy(from_function<Matrix>(line(), Shard(1), shape, changed), targets));
    };
    const auto more = loss(step), less = loss(-step);
    differences.push_back((more - less) / (2 * step));
  }

  expect_near(gradient, differences, 1e-6, "central differences");
}

TEST(GradCrossEntropy, needs_no_exchange_in_the_backward_pass) {
  const auto expect_none = [](const DeviceMesh& mesh, const Target& of_logits,
                              const Target& of_targets) {
    Tape tape;
    const auto x = tape.watch(from_function<Matrix>(mesh, of_logits, {6, 8}, SomeLogits{8}));
    const auto targets = from_function<Classes>(mesh, of_targets, {6}, ClassOfRow{8});
    const auto loss = ops::cross_entropy(x, targets);
    const Traffic traffic;
    tape.backward(loss);
    EXPECT_EQ(traffic.exchanges(), 0) << to_string(x.spec());
  };
  expect_none(line(), Shard(0), Shard(0));
  expect_none(line(), Shard(1), Replicate());
  expect_none(line(), Replicate(), Replicate());
  if (world_size() == 4)
    expect_none(mesh_of({2, 2}), {Shard(0), Shard(1)}, {Shard(0), Replicate()});
}

TEST(GradCrossEntropy, makes_the_exchanges_of_the_forward_pass_once) {
  Tape tape;
  const auto x = tape.watch(from_function<Matrix>(line(), Shard(1), {6, 8}, SomeLogits{8}));
  const auto targets = from_function<Classes>(line(), Replicate(), {6}, ClassOfRow{8});
  const Traffic traffic;
  ops::cross_entropy(x, targets);

  EXPECT_EQ(traffic.exchanges(), 3 * one());
}

TEST(GradCrossEntropy, reduces_contributions_to_the_logits_once) {
  Tape tape;
  const auto x = tape.watch(contributions<Matrix>(ReduceOp::sum, {3, 2}));
  const auto targets = from_function<Classes>(line(), Replicate(), {3}, ClassOfRow{2});
  const auto loss = ops::cross_entropy(x, targets);
  const Traffic traffic;
  tape.backward(loss);
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto gradient = all_elements(x.grad());
  const auto logit = [](std::int64_t i, std::int64_t j) {
    return static_cast<double>(triangle() * (i * 2 + j));
  };

  EXPECT_EQ(x.grad().placements(), Placements{Replicate()});
  expect_near(gradient, expected_gradient({3, 2}, logit, [](std::int64_t) { return 1.0 / 3; }),
              1e-13, "contributions");
}

TEST(GradCrossEntropy, of_infinite_logits_is_finite) {
  Tape tape;
  const auto x = tape.watch(listed<Matrix>(line(), Shard(1), {2, 2}, {0, -infinity, 0, -infinity}));
  const auto targets = listed<Classes>(line(), Replicate(), {2}, {0, 1});
  const auto each = ops::cross_entropies(x, targets);
  tape.backward(each, ones<Vector>(line(), Replicate(), {2}));
  expect_elements(x.grad(), ElementsAre(0, 0, 1, -1));
}

TEST(GradCrossEntropy, of_no_rows) {
  Tape tape;
  const auto x = tape.watch(zeros<Matrix>(line(), Shard(0), {0, 3}));
  tape.backward(ops::cross_entropy(x, zeros<Classes>(line(), Shard(0), {0})));
  EXPECT_EQ(x.grad().shape(), (Extents{0, 3}));
}

template <class T, class Class>
void expect_gradient_of_views() {
  const MatrixOf<T> logits("logits", 2, 2);
  change_on_host(logits, [](const auto& host) { host(1, 0) = std::log(T(3)); });
  const VectorOf<Class> targets("targets", 2);
  change_on_host(targets, [](const auto& host) { host(1) = 1; });
  Tape tape;
  const auto x = tape.watch_local(logits);
  const Traffic traffic;
  tape.backward(ops::cross_entropy(x, targets));

  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(x.grad())>, typename MatrixOf<T>::const_type>);
  expect_near(elements_of(x.grad()), {-0.25, 0.25, 0.375, -0.375}, 1e-6, "Views");
}

TEST(GradCrossEntropy, of_views_floats_and_other_integers) {
  expect_gradient_of_views<float, std::int32_t>();
  expect_gradient_of_views<float, std::int64_t>();
  expect_gradient_of_views<double, std::int64_t>();
  expect_gradient_of_views<double, std::uint8_t>();
}

TEST(GradCrossEntropy, of_floats_split_by_columns_with_long_targets) {
  Tape tape;
  const auto x = tape.watch(zeros<MatrixOf<float>>(line(), Shard(1), {1, 8}));
  const auto targets = listed<VectorOf<std::int64_t>>(line(), Replicate(), {1}, {7});
  tape.backward(ops::cross_entropy(x, targets));
  const auto gradient = all_elements(x.grad());

  expect_near(gradient, {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, -0.875}, 1e-6, "floats");
}

}  // namespace
}  // namespace tessera::test
