// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Layer normalization, on inputs of any placements.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <tessera/nn/layer_norm.hpp>

#include "layers.hpp"

namespace tessera::test {
namespace {

using nn::distribute_module;
using nn::LayerNorm;

using Numbers = std::vector<double>;

/// Computes y = (x - mean) / sqrt(variance + eps) weight + bias of rows by plain loops.
Numbers layer_norm_of(const Numbers& x, const Numbers& weight, const Numbers& bias, double eps) {
  const auto features = weight.size();
  Numbers y(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += features) {
    double sum = 0, squares = 0;
    for (std::size_t j = 0; j < features; ++j) sum += x[begin + j];
    const double mean = sum / static_cast<double>(features);
    for (std::size_t j = 0; j < features; ++j) squares += std::pow(x[begin + j] - mean, 2);
    const double variance = squares / static_cast<double>(features);
    for (std::size_t j = 0; j < features; ++j)
      y[begin + j] = (x[begin + j] - mean) / std::sqrt(variance + eps) * weight[j] + bias[j];
  }
  return y;
}

double dot_of(const Numbers& a, const Numbers& b) {
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result += a[i] * b[i];
  return result;
}

/// Returns the central differences of function(x).
template <class Function>
Numbers differences(Numbers x, const Function& function) {
  constexpr double step = 1e-5;
  Numbers result;
  for (auto& value : x) {
    const double middle = value;
    value = middle + step;
    const double above = function(x);
    value = middle - step;
    result.push_back((above - function(x)) / (2 * step));
    value = middle;
  }
  return result;
}

/// Lists placements of an input of `dims` dims.
std::vector<Target> placements_of_inputs(const DeviceMesh& mesh, int dims) {
  if (mesh.ndim() == 1)
    return {Replicate(), Shard(0), Shard(dims - 1), Balanced(dims - 1), Cyclic(dims - 1, 1)};
  return {{Replicate(), Shard(dims - 1)},
          {Shard(0), Shard(dims - 1)},
          {Shard(dims - 1), Shard(dims - 1)},
          {Shard(0), Replicate()}};
}

/// Gives the parameters values that are not those of a new layer.
template <class V>
void set_parameters(LayerNorm<V>& layer, const DeviceMesh& mesh, const Target& target) {
  using Parameters = typename LayerNorm<V>::Vector;
  auto module = layer.registry();
  const auto features = module.template get<Parameters>("weight").shape();
  module.set("weight", some_numbers<Parameters>(mesh, target, features, 11));
  module.set("bias", some_numbers<Parameters>(mesh, target, features, 12));
}

template <class V>
auto gradient_of(const LayerNorm<V>& layer, const char* key) {
  using Parameters = typename LayerNorm<V>::Vector;
  auto& parameter = detail::parameter_of(layer.registry(), key);
  return all_elements(detail::parameter_as<Parameters>(parameter).variable().grad());
}

/// Compares values and gradients with plain loops.
template <class V>
void expect_layer_norm(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                       double eps) {
  const auto features = shape[shape.size() - 1];
  LayerNorm<V> layer(features, {.eps = eps});
  distribute_module(layer, mesh);
  set_parameters(layer, mesh, all_replicate);
  grad::Tape tape;
  nn::watch(layer, tape);
  const auto x = tape.watch(some_numbers<V>(mesh, target, shape, 1));
  const auto dy = some_numbers<V>(mesh, target, shape, 2);
  const auto y = layer(x);
  tape.backward(y, dy);
  const auto name = to_string(x.spec());
  for (std::size_t d = 0; d < x.placements().size(); ++d)
    if (mesh.shape()[d] > 1) {
      EXPECT_EQ(y.placements()[d], x.placements()[d]) << name;
    }

  using Parameters = typename LayerNorm<V>::Vector;
  const Numbers weight = all_elements(layer.registry().template get<Parameters>("weight"));
  const Numbers bias = all_elements(layer.registry().template get<Parameters>("bias"));
  const Numbers values = all_elements(x.detach()), c = all_elements(dy);
  EXPECT_LE(distance_of(all_elements(y.detach()), layer_norm_of(values, weight, bias, eps)), 1e-13)
      << name;
  const auto dx = differences(
      values, [&](const Numbers& at) { return dot_of(layer_norm_of(at, weight, bias, eps), c); });
  const auto dw = differences(
      weight, [&](const Numbers& at) { return dot_of(layer_norm_of(values, at, bias, eps), c); });
  const auto db = differences(
      bias, [&](const Numbers& at) { return dot_of(layer_norm_of(values, weight, at, eps), c); });
  EXPECT_LE(distance_of(all_elements(x.grad()), dx), 1e-8) << name;
  EXPECT_LE(distance_of(gradient_of(layer, "weight"), dw), 1e-8) << name;
  EXPECT_LE(distance_of(gradient_of(layer, "bias"), db), 1e-8) << name;
}

TEST(LayerNorm, has_the_values_and_gradients_of_plain_loops) {
  for (const auto& mesh : line_and_grid()) {
    for (const auto& target : placements_of_inputs(mesh, 2)) {
      expect_layer_norm<Matrix>(mesh, target, {5, 7}, 1e-5);
      expect_layer_norm<LeftMatrix>(mesh, target, {4, 3}, 0.1);
    }
    for (const auto& target : placements_of_inputs(mesh, 3))
      expect_layer_norm<Tensor3>(mesh, target, {3, 2, 6}, 1e-5);
    for (const auto& target : placements_of_inputs(mesh, 4))
      expect_layer_norm<Tensor4>(mesh, target, {2, 2, 3, 5}, 1e-5);
  }
  expect_layer_norm<Vector>(line(), Shard(0), {7}, 1e-5);
}

TEST(LayerNorm, begins_with_ones_and_zeros) {
  const LayerNorm<Matrix> layer(3);
  distribute_module(layer, line(), SplitLayer{Split::columns});
  expect_elements(layer.registry().get<Vector>("weight"), ElementsAre(1, 1, 1));
  expect_elements(layer.registry().get<Vector>("bias"), ElementsAre(0, 0, 0));
}

TEST(LayerNorm, computes_in_single_precision) {
  using Single = MatrixOf<float>;
  const LayerNorm<Single> layer(6);
  distribute_module(layer, line());
  const auto x = some_numbers<Single>(line(), Shard(1), {3, 6}, 1);
  const auto elements = all_elements(x);
  const auto expected =
      layer_norm_of(Numbers(elements.begin(), elements.end()), Numbers(6, 1), Numbers(6, 0), 1e-5);
  EXPECT_LE(distance_of(all_elements(layer(x).detach()), expected), 3e-6);
}

TEST(LayerNorm, keeps_its_digits_where_the_mean_is_large) {
  const LayerNorm<Matrix> layer(5, {.eps = 0});
  distribute_module(layer, line());
  const auto x = ops::add(iota<Matrix>(line(), Shard(1), {2, 5}), 1e8);
  const double root = std::sqrt(2.0);
  const Numbers row{-root, -root / 2, 0, root / 2, root};
  Numbers expected = row;
  expected.insert(expected.end(), row.begin(), row.end());
  EXPECT_LE(distance_of(all_elements(layer(x).detach()), expected), 1e-14);
}

TEST(LayerNorm, reduces_a_partial_input_first) {
  const LayerNorm<Matrix> layer(4);
  distribute_module(layer, line());
  const auto x = contributions<Matrix>(ReduceOp::sum, {3, 4});
  const Traffic traffic;
  const auto y = layer(x);
  EXPECT_EQ(traffic.exchanges(), one());
  const auto expected = layer_norm_of(all_elements(x), Numbers(4, 1), Numbers(4, 0), 1e-5);
  EXPECT_LE(distance_of(all_elements(y.detach()), expected), 1e-13);
  grad::Tape tape;
  tape.backward(layer(tape.watch(x)), ones<Matrix>(line(), Replicate(), {3, 4}));
}

/// Returns the exchanges of the forward and the backward pass, and the bytes that this rank receives in both.
std::vector<std::int64_t> traffic_of(const Target& target, const Target& of_parameters) {
  LayerNorm<Matrix> layer(64);
  distribute_module(layer, line());
  set_parameters(layer, line(), of_parameters);
  grad::Tape tape;
  nn::watch(layer, tape);
  const auto x = tape.watch(some_numbers<Matrix>(line(), target, {16, 64}, 1));
  const auto dy = some_numbers<Matrix>(line(), target, {16, 64}, 1);
  const Traffic forward;
  const auto y = layer(x);
  const auto forward_exchanges = forward.exchanges();
  tape.backward(y, dy);
  return {forward_exchanges, forward.exchanges() - forward_exchanges, forward.bytes_received()};
}

TEST(LayerNorm, exchanges_sums_of_rows_alone_where_features_are_sharded) {
  const auto traffic = traffic_of(Shard(1), Shard(0));
  EXPECT_EQ(traffic[0], 2 * one());
  EXPECT_EQ(traffic[1], one());
  EXPECT_LE(traffic[2], 4 * 16 * 8 * (world_size() - 1));
}

TEST(LayerNorm, exchanges_gradients_of_parameters_alone_where_rows_are_sharded) {
  const auto traffic = traffic_of(Shard(0), Replicate());
  EXPECT_EQ(traffic[0], 0);
  EXPECT_EQ(traffic[1], one());
}

TEST(LayerNorm, refuses_features_and_eps_that_make_no_sense) {
  EXPECT_EQ(invalid_argument_of([] { LayerNorm<Matrix>(0); }),
            "LayerNorm: expected at least 1 feature, got 0");
  EXPECT_EQ(invalid_argument_of([] { LayerNorm<Matrix>(2, {.eps = -1}); }),
            "LayerNorm: expected an eps of at least 0, got -1");
  EXPECT_THAT(invalid_argument_of([] { LayerNorm<Matrix>(2, {.eps = nan}); }), HasSubstr("eps"));
}

TEST(LayerNorm, names_itself_where_an_input_does_not_fit) {
  const LayerNorm<Matrix> layer(4);
  distribute_module(layer, line());
  EXPECT_EQ(invalid_argument_of([&] {
              layer(zeros<Matrix>(line(), Replicate(), {4, 5}));
            }),
            "LayerNorm: expected an input with 4 features in its last dim, got shape (4, 5)");
}

}  // namespace
}  // namespace tessera::test
