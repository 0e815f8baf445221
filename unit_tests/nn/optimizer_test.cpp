// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// SGD and Adam on parameters of any placements.
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tessera/nn/adam.hpp>
#include <tessera/nn/layer_norm.hpp>
#include <tessera/nn/sgd.hpp>

#include "../support/gathered.hpp"
#include "../support/test_array.hpp"
#include "layers.hpp"
#include "nn/update.hpp"

namespace tessera::test {
namespace {

using nn::Adam;
using nn::AdamOptions;
using nn::distribute_module;
using nn::SGD;
using nn::SgdOptions;
using testing::AllOf;
using testing::StartsWith;

constexpr int steps = 5;

/// Has one matrix, whose gradient the tests choose.
template <class V>
class Weights {
 public:
  explicit Weights(const Extents& shape, bool trainable = true)
      : weight_(module_.register_parameter("weight", detail::allocate<V>(shape, "weight"),
                                           trainable)) {}

  const nn::Module& registry() const { return module_; }
  const grad::Variable<V>& variable() const { return weight_.variable(); }
  const DTensor<V>& tensor() const { return weight_.tensor(); }

  /// Gives the weight these values on a mesh.
  void set(const DTensor<V>& values) {
    auto module = module_;
    module.set("weight", values);
  }

 private:
  nn::Module module_{"Weights"};
  nn::Parameter<V> weight_;
};

const Extents shape{5, 7};

template <class V>
Weights<V> some_weights(const DeviceMesh& mesh, const Target& target) {
  Weights<V> result(shape);
  result.set(some_numbers<V>(mesh, target, shape, 1));
  return result;
}

/// Makes the numbers of `seed`, placed as the weights are, the gradient of the weights.
template <class V>
void set_gradient(grad::Tape& tape, const Weights<V>& weights, std::int64_t seed) {
  tape.zero_grad();
  const auto& w = weights.variable();
  tape.backward(ops::add(w, 0),
                some_numbers<V>(w.device_mesh(), Target(w.spec()), w.shape(), seed));
}

/// Returns the weights after some steps with other gradients each.
template <class V, class Optimizer, class Options>
auto trained(const DeviceMesh& mesh, const Target& target, const Options& options) {
  const auto weights = some_weights<V>(mesh, target);
  grad::Tape tape;
  nn::watch(weights, tape);
  Optimizer optimizer(weights, options);
  for (int step = 0; step < steps; ++step) {
    set_gradient(tape, weights, step + 2);
    optimizer.step();
  }
  return all_elements(weights.tensor());
}

/// Updates one number as torch.optim.SGD does.
struct SgdReference {
  SgdOptions options;
  std::optional<double> b = {};

  double operator()(double p, double g) {
    if (options.weight_decay != 0) g += options.weight_decay * p;
    if (options.momentum != 0) {
      b = b ? options.momentum * *b + (1 - options.dampening) * g : g;
      g = options.nesterov ? g + options.momentum * *b : *b;
    }
    return p - options.lr * g;
  }
};

/// Updates one number as torch.optim.Adam does.
struct AdamReference {
  AdamOptions options;
  double m = 0, v = 0;
  int t = 0;

  double operator()(double p, double g) {
    ++t;
    if (options.weight_decay != 0) g += options.weight_decay * p;
    m = options.beta1 * m + (1 - options.beta1) * g;
    v = options.beta2 * v + (1 - options.beta2) * g * g;
    const double corrected = m / (1 - std::pow(options.beta1, t));
    const double root = std::sqrt(v / (1 - std::pow(options.beta2, t)));
    return p - options.lr * corrected / (root + options.eps);
  }
};

/// Returns all elements of the weights after the same steps, by plain loops.
template <class V, class Reference>
auto expected_after(const Reference& reference) {
  using T = typename V::value_type;
  const auto numbers = [](std::int64_t seed) {
    return all_elements(some_numbers<V>(line(), Replicate(), shape, seed));
  };
  auto result = numbers(1);
  std::vector<Reference> real(result.size(), reference), imag = real;
  for (int step = 0; step < steps; ++step) {
    const auto g = numbers(step + 2);
    for (std::size_t i = 0; i < result.size(); ++i)
      if constexpr (std::is_floating_point_v<T>)
        result[i] = static_cast<T>(real[i](result[i], g[i]));
      else
        result[i] = T(static_cast<typename T::value_type>(real[i](result[i].real(), g[i].real())),
                      static_cast<typename T::value_type>(imag[i](result[i].imag(), g[i].imag())));
  }
  return result;
}

const std::vector<SgdOptions> sgd_options{
    {.lr = 0.1},
    {.lr = 0.1, .weight_decay = 0.3},
    {.lr = 0.1, .momentum = 0.9},
    {.lr = 0.1, .momentum = 0.8, .dampening = 0.3, .weight_decay = 0.2},
    {.lr = 0.1, .momentum = 0.9, .nesterov = true},
    {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true},
};
const std::vector<AdamOptions> adam_options{
    {},
    {.lr = 0.1},
    {.lr = 0.1, .weight_decay = 0.2},
    {.lr = 0.1, .beta1 = 0.3, .beta2 = 0.7, .eps = 0.1},
    {.lr = 0.1, .beta1 = 0, .beta2 = 0},
};

template <class V>
class OptimizersOf : public testing::Test {};
using NumberTypes = testing::Types<Matrix, LeftMatrix, MatrixOf<float>, MatrixOf<Complex>,
                                   MatrixOf<Kokkos::complex<float>>>;
TYPED_TEST_SUITE(OptimizersOf, NumberTypes);

template <class V>
constexpr double rounding =
    std::is_same_v<typename detail::PartOf<typename V::value_type>::type, float> ? 1e-5 : 1e-13;

TYPED_TEST(OptimizersOf, update_by_the_formulas_of_sgd) {
  for (const auto& options : sgd_options) {
    const auto elements = trained<TypeParam, SGD>(line(), Shard(0), options);
    EXPECT_LE(distance_of(elements, expected_after<TypeParam>(SgdReference{options})),
              rounding<TypeParam>);
  }
}

TYPED_TEST(OptimizersOf, update_by_the_formulas_of_adam) {
  for (const auto& options : adam_options) {
    const auto elements = trained<TypeParam, Adam>(line(), Shard(0), options);
    EXPECT_LE(distance_of(elements, expected_after<TypeParam>(AdamReference{options})),
              rounding<TypeParam>);
  }
}

/// Lists placements of parameters.
std::vector<Target> placements_on(const DeviceMesh& mesh) {
  if (mesh.ndim() == 1) return {Replicate(), Shard(0), Shard(1), Balanced(1), Cyclic(1, 2)};
  return {{Shard(0), Shard(1)}, {Shard(1), Shard(1)}, {Replicate(), Shard(0)}};
}

TYPED_TEST(OptimizersOf, give_the_same_bits_under_all_placements) {
  const SgdOptions sgd{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1};
  const AdamOptions adam{.lr = 0.1, .weight_decay = 0.1};
  const auto by_sgd = trained<TypeParam, SGD>(line(), Replicate(), sgd);
  const auto by_adam = trained<TypeParam, Adam>(line(), Replicate(), adam);
  for (const auto& mesh : line_and_grid())
    for (const auto& target : placements_on(mesh)) {
      EXPECT_EQ((trained<TypeParam, SGD>(mesh, target, sgd)), by_sgd);
      EXPECT_EQ((trained<TypeParam, Adam>(mesh, target, adam)), by_adam);
    }
}

TEST(Optimizer, keeps_replicas_bit_equal) {
  const auto weights = some_weights<Matrix>(line(), Replicate());
  grad::Tape tape;
  nn::watch(weights, tape);
  Adam optimizer(weights);
  for (int step = 0; step < steps; ++step) {
    const auto x = some_numbers<Matrix>(line(), Shard(0), {9, 5}, step);
    tape.backward(ops::mean(ops::square(ops::matmul(x, weights.variable()))));
    optimizer.step();
    optimizer.zero_grad();
  }
  const auto replicas = gathered(line().group(), elements_of(weights.tensor().to_local()));
  for (const auto& replica : replicas) EXPECT_EQ(replica, replicas[0]);
}

TEST(Optimizer, exchanges_nothing) {
  const auto weights = some_weights<Matrix>(line(), Shard(0));
  grad::Tape tape;
  nn::watch(weights, tape);
  SGD sgd(weights, {.momentum = 0.9});
  Adam adam(weights);
  set_gradient(tape, weights, 2);
  const Traffic traffic;
  sgd.step();
  adam.step();
  sgd.zero_grad();
  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(traffic.agreements(), 0);
  EXPECT_EQ(traffic.metadata(), 0);
}

/// Has weights that are trained, and some that are not.
struct TwoWeights {
  nn::Module module{"TwoWeights"};
  Weights<Matrix> first{shape}, second{shape, false};

  TwoWeights() {
    module.register_module("first", first);
    module.register_module("second", second);
    first.set(some_numbers<Matrix>(line(), Shard(0), shape, 1));
    second.set(some_numbers<Matrix>(line(), Shard(0), shape, 1));
  }
  const nn::Module& registry() const { return module; }
};

TEST(Optimizer, leaves_parameters_alone_that_are_not_trainable_or_have_no_gradient) {
  TwoWeights model;
  const auto before = all_elements(model.first.tensor());
  SGD optimizer(model);
  optimizer.step();
  EXPECT_EQ(all_elements(model.first.tensor()), before);
  grad::Tape tape;
  nn::watch(model, tape);
  optimizer.step();
  EXPECT_EQ(all_elements(model.first.tensor()), before);
  set_gradient(tape, model.first, 2);
  optimizer.step();
  EXPECT_NE(all_elements(model.first.tensor()), before);
  EXPECT_EQ(all_elements(model.second.tensor()), before);
}

TEST(Optimizer, forgets_gradients) {
  const auto weights = some_weights<Matrix>(line(), Shard(0));
  grad::Tape tape;
  nn::watch(weights, tape);
  SGD optimizer(weights);
  set_gradient(tape, weights, 2);
  optimizer.zero_grad();
  EXPECT_FALSE(weights.variable().has_grad());
}

TEST(Optimizer, takes_another_learning_rate_between_steps) {
  const auto weights = some_weights<Matrix>(line(), Shard(0));
  grad::Tape tape;
  nn::watch(weights, tape);
  SGD optimizer(weights, {.lr = 0.5});
  set_gradient(tape, weights, 2);
  optimizer.step();
  optimizer.set_lr(0);
  const auto before = all_elements(weights.tensor());
  optimizer.step();
  EXPECT_EQ(all_elements(weights.tensor()), before);
  EXPECT_EQ(optimizer.options().lr, 0);
  Adam adam(weights);
  adam.set_lr(0.25);
  EXPECT_EQ(adam.options().lr, 0.25);
}

TEST(Optimizer, shares_its_momentum_with_copies_and_keeps_parameters_alive) {
  auto weights = std::make_unique<Weights<Matrix>>(some_weights<Matrix>(line(), Shard(0)));
  const auto tensor = weights->tensor();
  grad::Tape tape;
  nn::watch(*weights, tape);
  const SgdOptions options{.lr = 0.1, .momentum = 0.9};
  SGD first(*weights, options);
  SGD second = first;
  set_gradient(tape, *weights, 2);
  weights.reset();
  first.step();
  second.step();
  SgdReference reference{options};
  const auto g = all_elements(some_numbers<Matrix>(line(), Replicate(), shape, 2));
  const double p = all_elements(some_numbers<Matrix>(line(), Replicate(), shape, 1))[0];
  const double once = reference(p, g[0]);
  EXPECT_NEAR(all_elements(tensor)[0], reference(once, g[0]), 1e-14);
  second.set_lr(0.7);
  EXPECT_EQ(first.options().lr, 0.7);
}

TEST(Optimizer, goes_on_with_its_momentum_where_a_parameter_gets_new_values) {
  auto weights = some_weights<Matrix>(line(), Shard(0));
  grad::Tape tape;
  nn::watch(weights, tape);
  SGD optimizer(weights, {.lr = 1, .momentum = 1});
  set_gradient(tape, weights, 2);
  optimizer.step();
  const auto take = [&](const Target& target) {
    weights.set(zeros<Matrix>(line(), target, shape));
    nn::watch(weights, tape);
    set_gradient(tape, weights, 3);
    optimizer.step();
    return all_elements(weights.tensor());
  };
  const auto g = all_elements(some_numbers<Matrix>(line(), Replicate(), shape, 2));
  const auto h = all_elements(some_numbers<Matrix>(line(), Replicate(), shape, 3));
  std::vector<double> both, last;
  for (std::size_t i = 0; i < g.size(); ++i) {
    both.push_back(-(g[i] + h[i]));
    last.push_back(-h[i]);
  }
  EXPECT_LE(distance_of(take(Shard(0)), both), 1e-14);
  EXPECT_LE(distance_of(take(Shard(1)), last), 1e-14);
}

TEST(Optimizer, refuses_to_write_to_what_a_tape_needs) {
  const auto weights = some_weights<Matrix>(line(), Shard(0));
  grad::Tape tape;
  nn::watch(weights, tape);
  SGD optimizer(weights, {.lr = 1});
  set_gradient(tape, weights, 2);
  const auto before = all_elements(weights.tensor());
  const auto y = ops::sum(ops::square(weights.variable()));
  const bool has_elements = weights.tensor().to_local().size() > 0;
  const auto message = invalid_argument_of([&] { optimizer.step(); });
  if (has_elements)
    EXPECT_THAT(message, AllOf(StartsWith("SGD::step of weight: expected memory that no tape"),
                               HasSubstr("square")));
  else
    EXPECT_EQ(message, "no error");
  EXPECT_EQ(all_elements(weights.tensor()), before);
  tape.backward(y);
  EXPECT_EQ(invalid_argument_of([&] { optimizer.step(); }), "no error");
}

TEST(Optimizer, refuses_modules_that_it_cannot_train) {
  const Weights<Matrix> alone(shape);
  EXPECT_EQ(invalid_argument_of([&] { SGD{alone}; }),
            "SGD: expected a module that distribute_module() has distributed, got one whose "
            "parameter weight is not");
  Weights<Matrix> fixed(shape, false), partial(shape);
  EXPECT_EQ(invalid_argument_of([&] { Adam{fixed}; }),
            "Adam: expected a module with trainable parameters, got Weights without any");
  partial.set(contributions<Matrix>(ReduceOp::sum, shape));
  EXPECT_THAT(invalid_argument_of([&] { SGD{partial}; }),
              StartsWith("SGD: expected parameters that are not Partial, got weight as "));
  Weights<MatrixOf<long double>> other(shape);
  other.set(zeros<MatrixOf<long double>>(line(), Replicate(), shape));
  EXPECT_THAT(invalid_argument_of([&] { SGD{other}; }),
              StartsWith("SGD: expected parameters of type float or double"));
}

TEST(Optimizer, refuses_options_that_make_no_sense) {
  const auto weights = some_weights<Matrix>(line(), Shard(0));
  const auto sgd = [&](const SgdOptions& options) {
    return invalid_argument_of([&] { SGD(weights, options); });
  };
  const auto adam = [&](const AdamOptions& options) {
    return invalid_argument_of([&] { Adam(weights, options); });
  };
  EXPECT_EQ(sgd({.lr = -1}), "SGD: expected a learning rate of at least 0, got -1");
  EXPECT_EQ(sgd({.lr = nan}), "SGD: expected a learning rate of at least 0, got nan");
  EXPECT_EQ(sgd({.momentum = -0.5}), "SGD: expected a momentum of at least 0, got -0.5");
  EXPECT_EQ(sgd({.weight_decay = -0.5}), "SGD: expected a weight decay of at least 0, got -0.5");
  EXPECT_EQ(sgd({.momentum = 0.5, .dampening = 0.25, .nesterov = true}),
            "SGD: expected nesterov with a momentum and without dampening, got momentum 0.5 and "
            "dampening 0.25");
  EXPECT_THAT(sgd({.nesterov = true}), HasSubstr("nesterov"));
  EXPECT_EQ(adam({.lr = -1}), "Adam: expected a learning rate of at least 0, got -1");
  EXPECT_EQ(adam({.beta1 = 1}), "Adam: expected beta1 in [0, 1), got 1");
  EXPECT_EQ(adam({.beta2 = -0.5}), "Adam: expected beta2 in [0, 1), got -0.5");
  EXPECT_EQ(adam({.eps = -1}), "Adam: expected an eps of at least 0, got -1");
  EXPECT_EQ(adam({.weight_decay = -1}), "Adam: expected a weight decay of at least 0, got -1");
  SGD optimizer(weights);
  EXPECT_EQ(invalid_argument_of([&] { optimizer.set_lr(-1); }),
            "SGD::set_lr: expected a learning rate of at least 0, got -1");
}

/// Adds the gradient and both arrays, each times another number.
template <class T>
struct AddAll {
  KOKKOS_FUNCTION void operator()(T& p, T g, T& a, T& b) const {
    p += T(2) * g + T(3) * a + T(5) * b;
    a = g;
    b = p;
  }
};

/// Runs AddAll on arrays of these layouts, and compares with loops.
template <class T, int parts>
void expect_update(std::mt19937& generator, ElementType type, const Extents& extents,
                   const std::vector<Layout>& layouts_of) {
  std::vector<TestArray> arrays;
  for (const auto layout : layouts_of) arrays.emplace_back(generator, type, extents, layout);
  std::vector<std::vector<T>> before(4);
  const auto number = [&](std::size_t k, const Extents& index, int part) -> T& {
    return reinterpret_cast<T*>(arrays[k].at(index))[part];
  };
  for (std::size_t k = 0; k < 4; ++k)
    for_each_index(extents, [&](const Extents& index) {
      for (int part = 0; part < parts; ++part) {
        number(k, index, part) = static_cast<T>(generator() % 100);
        before[k].push_back(number(k, index, part));
      }
    });
  const std::vector<detail::OwnedArray> owned{{arrays[2].ref(), {}}, {arrays[3].ref(), {}}};
  const detail::Update update{arrays[0].ref(), arrays[1].ref(), owned, 1};
  detail::run_update<2>("test", update, []<class R>(R) { return AddAll<R>(); });
  std::size_t i = 0;
  for_each_index(extents, [&](const Extents& index) {
    for (int part = 0; part < parts; ++part, ++i) {
      const T p = before[0][i] + 2 * before[1][i] + 3 * before[2][i] + 5 * before[3][i];
      EXPECT_EQ(number(0, index, part), p);
      EXPECT_EQ(number(1, index, part), before[1][i]);
      EXPECT_EQ(number(2, index, part), before[1][i]);
      EXPECT_EQ(number(3, index, part), p);
    }
  });
}

TEST(Optimizer, updates_arrays_of_unlike_layouts) {
  std::mt19937 generator(1);
  for (int i = 0; i < 200; ++i) {
    auto extents = random_extents(generator, 300);
    if (product(extents) == 0) continue;
    const auto any = random_layout(generator);
    const auto other = random_layout(generator);
    for (const auto& all : {std::vector{any, any, any, any}, std::vector{any, other, any, any},
                            std::vector{Layout::right, other, Layout::left, any}}) {
      expect_update<double, 1>(generator, element_type<double>(), extents, all);
      expect_update<float, 2>(generator, element_type<Kokkos::complex<float>>(), extents, all);
    }
  }
}

/// Returns the losses of a small regression: y = x Wᵀ + b with known W and b.
template <class Optimizer, class Options>
std::vector<double> losses_of(const DeviceMesh& mesh, Split split, const Placement& rows,
                              const Options& options) {
  const nn::Linear<Matrix> layer(4, 3, {.seed = 1}), known(4, 3, {.seed = 2});
  const auto model = distribute_module(layer, mesh, SplitLayer{split, -1});
  distribute_module(known, mesh);
  const auto target = along_last(mesh, Replicate(), rows);
  const auto x = some_numbers<Matrix>(mesh, target, {30, 4}, 1);
  const auto y = known(x).detach();
  Optimizer optimizer(model, options);
  grad::Tape tape;
  nn::watch(model, tape);
  std::vector<double> result;
  for (int step = 0; step < 200; ++step) {
    const RedistributionScope any(Redistribution::any);
    const auto loss = ops::mean(ops::square(ops::subtract(model(x), y)));
    result.push_back(item(loss.detach()));
    tape.backward(loss);
    optimizer.step();
    optimizer.zero_grad();
  }
  return result;
}

TEST(Optimizer, fits_a_linear_function_on_every_mesh) {
  const SgdOptions sgd{.lr = 0.4, .momentum = 0.9};
  const AdamOptions adam{.lr = 0.05};
  const auto alone = losses_of<SGD>(line(), Split::replicated, Replicate(), sgd);
  EXPECT_LE(alone.back(), 1e-6 * alone.front());
  const auto by_adam = losses_of<Adam>(line(), Split::columns, Replicate(), adam);
  EXPECT_LE(by_adam.back(), 1e-6 * by_adam.front());
  for (const auto& mesh : line_and_grid())
    for (const auto split : {Split::replicated, Split::columns, Split::rows}) {
      const Placement rows = mesh.ndim() == 2 ? Placement(Shard(0)) : Placement(Replicate());
      const auto losses = losses_of<SGD>(mesh, split, rows, sgd);
      for (std::size_t i = 0; i < 10; ++i)
        EXPECT_NEAR(losses[i], alone[i], 1e-12 * alone.front()) << to_string(mesh);
      EXPECT_LE(losses.back(), 1e-6 * losses.front());
    }
}

}  // namespace
}  // namespace tessera::test
