// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Linear layers, and the placements of their weights.
#include <cmath>
#include <string>
#include <vector>

#include "../support/gathered.hpp"
#include "layers.hpp"

namespace tessera::test {
namespace {

using nn::distribute_module;
using nn::Linear;

/// Returns the elements that a layer has on this rank before it is distributed.
template <class V>
auto weight_of(const Linear<V>& layer) {
  return all_elements(layer.registry().template get<V>("weight"));
}
template <class V>
auto bias_of(const Linear<V>& layer) {
  return all_elements(layer.registry().template get<typename Linear<V>::Bias>("bias"));
}

template <class V>
class LinearOf : public testing::Test {};
using MatrixTypes = testing::Types<Matrix, LeftMatrix, MatrixOf<float>, MatrixOf<Complex>,
                                   MatrixOf<Kokkos::complex<float>>>;
TYPED_TEST_SUITE(LinearOf, MatrixTypes);

TYPED_TEST(LinearOf, begins_with_the_numbers_of_its_seed_and_stream) {
  using T = typename TypeParam::value_type;
  constexpr std::int64_t in = 5, out = 3;
  const Linear<TypeParam> layer(in, out, {.seed = 4, .stream = 7});
  distribute_module(layer, line());

  const auto u =
      all_elements(rand<TypeParam>(line(), Replicate(), {out, in + 1}, {.seed = 4, .stream = 7}));
  std::vector<T> weight, bias;
  for (std::size_t i = 0; i < u.size(); ++i)
    (i % 6 == 5 ? bias : weight).push_back(centred(u[i], in));
  EXPECT_EQ(weight_of(layer), weight);
  EXPECT_EQ(bias_of(layer), bias);
}

TYPED_TEST(LinearOf, computes_what_plain_loops_compute) {
  using T = typename TypeParam::value_type;
  constexpr std::int64_t in = 5, out = 7;
  for (const auto& mesh : line_and_grid())
    for (const auto split : {Split::replicated, Split::columns, Split::rows}) {
      const Linear<TypeParam> layer(in, out);
      distribute_module(layer, mesh, SplitLayer{split, -1});
      const auto x = some_numbers<TypeParam>(mesh, all_replicate, {6, in}, 1);
      const auto y = layer(x);
      const auto expected = linear_of(all_elements(x), weight_of(layer), bias_of(layer), in, out);
      const double unit = std::is_same_v<typename detail::PartOf<T>::type, float> ? 1e-6 : 1e-14;
      EXPECT_LE(distance_of(all_elements(y.detach()), expected), unit)
          << to_string(mesh) << " " << static_cast<int>(split);
      EXPECT_EQ(y.shape(), Extents({6, out}));
    }
}

TEST(Linear, begins_with_equal_numbers_on_all_ranks) {
  const Linear<Matrix> layer(4, 3);
  distribute_module(layer, line(), {}, {}, {}, {.each_rank = true});
  const auto all =
      gathered(line().group(), elements_of(layer.registry().get<Matrix>("weight").to_local()));
  for (const auto& elements : all) EXPECT_EQ(elements, all[0]);
}

TEST(Linear, begins_with_other_numbers_than_the_layer_before) {
  const Linear<Matrix> a(4, 3), b(4, 3), c(4, 3, {.bias = false});
  for (const auto& layer : {a, b, c}) distribute_module(layer, line());
  EXPECT_NE(weight_of(a), weight_of(b));
  EXPECT_NE(weight_of(b), weight_of(c));
}

TEST(Linear, begins_with_equal_weights_with_and_without_a_bias) {
  const Linear<Matrix> a(4, 3, {.seed = 1}), b(4, 3, {.bias = false, .seed = 1});
  for (const auto& layer : {a, b}) distribute_module(layer, line());
  EXPECT_EQ(weight_of(a), weight_of(b));
}

TEST(Linear, begins_with_numbers_within_the_bound_of_pytorch) {
  constexpr std::int64_t in = 100;
  const Linear<Matrix> layer(in, 400);
  distribute_module(layer, line());
  double sum = 0, squares = 0;
  const auto weight = weight_of(layer);
  for (const double w : weight) {
    EXPECT_LE(std::abs(w), 0.1);
    sum += w;
    squares += w * w;
  }
  const auto count = static_cast<double>(weight.size());
  EXPECT_NEAR(sum / count, 0, 5 * 0.1 / std::sqrt(3 * count));
  EXPECT_NEAR(squares / count, 0.01 / 3, 5 * 0.01 / std::sqrt(11.25 * count));
}

/// Checks a layer on inputs of more dims than 2, or of 1.
template <class V>
void expect_on_shape(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  constexpr std::int64_t in = 5, out = 4;
  for (const auto split : {Split::replicated, Split::columns, Split::rows}) {
    const Linear<Matrix> layer(in, out);
    distribute_module(layer, mesh, SplitLayer{split, -1});
    const auto x = some_numbers<V>(mesh, target, shape, 2);
    const auto y = layer(x);
    auto expected_shape = shape;
    expected_shape[shape.size() - 1] = out;
    EXPECT_EQ(y.shape(), expected_shape);
    const auto expected = linear_of(all_elements(x), weight_of(layer), bias_of(layer), in, out);
    EXPECT_LE(distance_of(all_elements(y.detach()), expected), 1e-14) << to_string(x.spec());
  }
}

TEST(Linear, takes_inputs_of_1_to_4_dims) {
  for (const auto& mesh : line_and_grid()) {
    expect_on_shape<Vector>(mesh, all_replicate, {5});
    expect_on_shape<Matrix>(mesh, all_replicate, {3, 5});
    expect_on_shape<Tensor3>(mesh, all_replicate, {2, 3, 5});
    expect_on_shape<Tensor4>(mesh, all_replicate, {2, 3, 2, 5});
  }
  if (world_size() % 2 == 0) {
    const auto mesh = mesh_of({2, world_size() / 2});
    expect_on_shape<Tensor3>(mesh, {Shard(0), Replicate()}, {2, 3, 5});
    expect_on_shape<Tensor4>(mesh, {Shard(1), Replicate()}, {2, 3, 2, 5});
  }
}

TEST(Linear, adds_its_bias_once_to_a_partial_sum) {
  const Linear<Matrix> layer(6, 2);
  distribute_module(layer, line(), SplitLayer{Split::rows});
  const auto x = some_numbers<Matrix>(line(), Shard(1), {3, 6}, 3);
  const Traffic traffic;
  const auto y = layer(x);
  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(y.placements().has_partial(), world_size() > 1);
  const auto expected = linear_of(all_elements(x), weight_of(layer), bias_of(layer), 6, 2);
  EXPECT_LE(distance_of(all_elements(y.detach()), expected), 1e-14);
}

TEST(Linear, shards_its_result_without_an_exchange_where_it_is_split_by_columns) {
  const Linear<Matrix> layer(6, 5);
  distribute_module(layer, line(), SplitLayer{Split::columns});
  const auto x = some_numbers<Matrix>(line(), Replicate(), {3, 6}, 3);
  const Traffic traffic;
  const auto y = layer(x);
  if (world_size() > 1) {
    EXPECT_EQ(y.placements(), Placements{Shard(1)});
  }
  EXPECT_EQ(traffic.exchanges(), 0);
}

TEST(Linear, has_no_bias_where_none_is_asked_for) {
  const Linear<Matrix> layer(4, 3, {.bias = false});
  EXPECT_EQ(layer.registry().parameters().size(), 1U);
  distribute_module(layer, line(), SplitLayer{Split::columns});
  const auto x = some_numbers<Matrix>(line(), Replicate(), {2, 4}, 3);
  const auto expected = linear_of(all_elements(x), weight_of(layer), {}, 4, 3);
  EXPECT_LE(distance_of(all_elements(layer(x).detach()), expected), 1e-14);
}

TEST(Linear, has_the_gradients_of_plain_loops) {
  constexpr std::int64_t in = 5, out = 7, rows = 6;
  for (const auto& mesh : line_and_grid())
    for (const auto split : {Split::replicated, Split::columns, Split::rows})
      for (const bool shards_rows : {false, true}) {
        if (shards_rows && mesh.ndim() == 1) continue;
        const Linear<Matrix> layer(in, out);
        distribute_module(layer, mesh, SplitLayer{split, -1});
        const auto others = shards_rows ? Placement(Shard(0)) : Placement(Replicate());
        const auto target = along_last(mesh, Replicate(), others);
        grad::Tape tape;
        nn::watch(layer, tape);
        const auto x = tape.watch(some_numbers<Matrix>(mesh, target, {rows, in}, 1));
        const auto dy = some_numbers<Matrix>(mesh, target, {rows, out}, 4);
        tape.backward(layer(x), dy);

        const auto a = all_elements(x.detach()), g = all_elements(dy);
        const auto dx = product_of(g, weight_of(layer), rows, out, in, false, false);
        const auto dw = product_of(g, a, out, rows, in, true, false);
        const auto db = product_of(g, std::vector<double>(rows, 1), out, rows, 1, true, false);
        const auto parameters = detail::trainable_parameters(layer.registry());
        const auto name = to_string(mesh) + " " + std::to_string(static_cast<int>(split));
        EXPECT_LE(distance_of(all_elements(x.grad()), dx), 1e-14) << name;
        const auto gradient_of = [&]<class V>(const char* key, V) {
          auto& parameter = detail::parameter_of(layer.registry(), key);
          return all_elements(detail::parameter_as<V>(parameter).variable().grad());
        };
        EXPECT_LE(distance_of(gradient_of("weight", Matrix()), dw), 1e-14) << name;
        EXPECT_LE(distance_of(gradient_of("bias", Vector()), db), 1e-14) << name;
      }
}

/// Has a layer that is split by columns, and one that is split by rows.
class Mlp {
 public:
  Mlp() {
    module_.register_module("fc1", fc1_);
    module_.register_module("fc2", fc2_);
  }
  const nn::Module& registry() const { return module_; }
  const Linear<Matrix>& fc1() const { return fc1_; }
  const Linear<Matrix>& fc2() const { return fc2_; }

  template <class X>
  auto operator()(const X& x) const {
    return module_.forward([&] { return fc2_(ops::relu(fc1_(x))); });
  }

 private:
  Linear<Matrix> fc1_{5, 7, {.seed = 1}}, fc2_{7, 3, {.seed = 2}};
  nn::Module module_{"Mlp"};
};

struct SplitMlp {
  void operator()(const std::string& name, nn::Module& module, const DeviceMesh& mesh) const {
    if (name == "fc1") nn::column_parallel(module, mesh, -1);
    if (name == "fc2") nn::row_parallel(module, mesh, -1);
  }
};

/// Counts the exchanges of an Mlp that is split along the last mesh dim: until its result is Partial, until it
/// is reduced, and in the backward pass.
std::vector<int> exchanges_of_mlp(const DeviceMesh& mesh, const Placement& others,
                                  bool watches_input) {
  const auto model = distribute_module(Mlp(), mesh, SplitMlp());
  grad::Tape tape;
  nn::watch(model, tape);
  const auto data = some_numbers<Matrix>(mesh, along_last(mesh, Replicate(), others), {6, 5}, 1);
  const auto target = along_last(mesh, Replicate(), others);
  const auto steps = [&](const auto& x) {
    std::vector<int> result;
    const Traffic forward;
    const auto partial = model(x);
    result.push_back(forward.exchanges());
    const auto y = redistribute(partial, target);
    result.push_back(forward.exchanges());
    const auto loss = ops::mean(ops::square(y));
    const Traffic backward;
    tape.backward(loss);
    result.push_back(backward.exchanges());
    return result;
  };
  if (watches_input) return steps(tape.watch(data));
  return steps(data);
}

TEST(Partition, of_two_layers_exchanges_nothing_but_the_sum_of_the_second_one) {
  // The gradient of y is Replicate along the mesh dim: that of W₂ is sharded as W₂ is, and so is all before it, down to
  // the gradient of the input, which is a Partial sum.
  EXPECT_EQ(exchanges_of_mlp(line(), Replicate(), false), (std::vector{0, one(), 0}));
  EXPECT_EQ(exchanges_of_mlp(line(), Replicate(), true), (std::vector{0, one(), one()}));
}

TEST(Partition, of_two_layers_reduces_the_gradients_of_all_parameters_together) {
  if (world_size() != 4) return;
  // Rows of the input are sharded along mesh dim 0, so that all four gradients are Partial along it.
  const auto mesh = mesh_of({2, 2});
  EXPECT_EQ(exchanges_of_mlp(mesh, Shard(0), false), (std::vector{0, 1, 1}));
  EXPECT_EQ(exchanges_of_mlp(mesh, Shard(0), true), (std::vector{0, 1, 1}));
}

TEST(Partition, places_weights_and_biases_along_one_mesh_dim) {
  const auto mesh = mesh_of({1, world_size()}, {"dp", "tp"});
  const auto model = distribute_module(
      Mlp(), mesh, [](const std::string& name, nn::Module& module, const DeviceMesh& on) {
        if (name == "fc1") nn::column_parallel(module, on, "tp");
        if (name == "fc2") nn::row_parallel(module, on, "tp");
      });
  const auto& first = model.fc1().registry();
  const auto& second = model.fc2().registry();
  EXPECT_EQ(first.get<Matrix>("weight").placements(), (Placements{Replicate(), Shard(0)}));
  EXPECT_EQ(first.get<Vector>("bias").placements(), (Placements{Replicate(), Shard(0)}));
  EXPECT_EQ(second.get<Matrix>("weight").placements(), (Placements{Replicate(), Shard(1)}));
  EXPECT_EQ(second.get<Vector>("bias").placements(), (Placements{Replicate(), Replicate()}));
}

TEST(Partition, refuses_modules_without_a_weight_that_fits) {
  nn::Module norm("Norm"), none("None");
  norm.register_parameter("weight", iota_view<Vector>({3}));
  EXPECT_EQ(invalid_argument_of([&] { nn::column_parallel(none, line()); }),
            "column_parallel: expected a module with a parameter \"weight\" of at least 1 dim, got "
            "module None");
  EXPECT_EQ(invalid_argument_of([&] { nn::row_parallel(norm, line()); }),
            "row_parallel: expected a module with a parameter \"weight\" of at least 2 dims, got "
            "module Norm");
  EXPECT_EQ(invalid_argument_of([&] { nn::column_parallel(norm, line()); }), "no error");
}

TEST(Partition, refuses_unknown_mesh_dims_and_distributed_modules) {
  auto module = Linear<Matrix>(3, 2).registry();
  EXPECT_THAT(invalid_argument_of([&] { nn::column_parallel(module, line(), "tp"); }),
              HasSubstr("tp"));
  EXPECT_THAT(invalid_argument_of([&] { nn::row_parallel(module, line(), 1); }),
              HasSubstr("expected a dim of mesh"));
  const Linear<Matrix> layer(3, 2);
  distribute_module(layer, line());
  auto distributed = layer.registry();
  EXPECT_THAT(invalid_argument_of([&] { nn::row_parallel(distributed, line()); }),
              HasSubstr("not distributed yet"));
}

TEST(Linear, refuses_less_than_one_feature) {
  EXPECT_EQ(invalid_argument_of([] { Linear<Matrix>(0, 2); }),
            "Linear: expected at least 1 feature on both sides, got 0 inputs and 2 outputs");
  EXPECT_EQ(invalid_argument_of([] { Linear<Matrix>(3, -1); }),
            "Linear: expected at least 1 feature on both sides, got 3 inputs and -1 outputs");
}

TEST(Linear, names_itself_where_an_input_does_not_fit) {
  const auto model = distribute_module(Mlp(), line());
  const auto x = zeros<Matrix>(line(), Replicate(), {2, 4});
  EXPECT_EQ(invalid_argument_of([&] { model(x); }),
            "fc1: expected an input with 5 features in its last dim, got shape (2, 4)");
}

TEST(Linear, refuses_to_compute_before_it_is_distributed) {
  const Linear<Matrix> layer(4, 3);
  EXPECT_THAT(invalid_argument_of([&] {
                layer(zeros<Matrix>(line(), Replicate(), {2, 4}));
              }),
              HasSubstr("distribute_module"));
}

TEST(Linear, computes_the_same_on_ranks_off_the_mesh) {
  const auto mesh = mesh_of({(world_size() + 1) / 2});
  const Linear<Matrix> layer(4, 3);
  distribute_module(layer, mesh, SplitLayer{Split::columns});
  grad::Tape tape;
  nn::watch(layer, tape);
  const auto y = layer(zeros<Matrix>(mesh, Replicate(), {2, 4}));
  tape.backward(ops::sum(y));
  EXPECT_EQ(y.detach().to_local().extent(0), is_on(mesh) ? 2U : 0U);
}

}  // namespace
}  // namespace tessera::test
