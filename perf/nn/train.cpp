// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../in_turns.hpp"
#include "../measures.hpp"
#include "train.hpp"

namespace tessera::perf {

// Not in an unnamed namespace: nvcc takes no kernels from there.
namespace training {

using Device = Kokkos::DefaultExecutionSpace::device_type;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Device>;
using Number = Kokkos::View<double, Kokkos::LayoutRight, Device>;
using Numbers = Kokkos::View<std::int64_t*, Kokkos::LayoutRight, Device>;
using Strided = Kokkos::View<double**, Kokkos::LayoutStride, Device>;
using Tensor = DTensor<Matrix>;

// The network of examples/train.
constexpr std::int64_t inputs = 64, hidden = 128, classes = 10;
constexpr double rate = 0.1, momentum = 0.9;

/// Gives the rows their labels.
struct Label {
  KOKKOS_FUNCTION std::int64_t operator()(const Kokkos::Array<std::int64_t, 1>& row) const {
    return row[0] * 7 % classes;
  }
};

/// Computes the loss of the rows of this rank, and replaces the logits by the gradient of the loss.
struct CrossEntropy {
  Matrix logits;
  Numbers targets;
  double rows;  ///< number of rows that all ranks have

  KOKKOS_FUNCTION void operator()(std::int64_t row, double& loss) const {
    const auto target = targets(row);
    double most = logits(row, 0), sum = 0;
    for (std::int64_t j = 1; j < classes; ++j) most = Kokkos::max(most, logits(row, j));
    loss += (most - logits(row, target)) / rows;
    for (std::int64_t j = 0; j < classes; ++j)
      sum += logits(row, j) = Kokkos::exp(logits(row, j) - most);
    loss += Kokkos::log(sum) / rows;
    for (std::int64_t j = 0; j < classes; ++j)
      logits(row, j) = (logits(row, j) / sum - (j == target ? 1 : 0)) / rows;
  }
};

/// Sets x to 0 where y is not above 0: the adjoint of relu, whose result is y.
struct Mask {
  Matrix x, y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!(y.data()[i] > 0)) x.data()[i] = 0;
  }
};

/// Updates a parameter by its gradient.
struct Update {
  double *weight, *velocity;
  const double* gradient;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    velocity[i] = momentum * velocity[i] + gradient[i];
    weight[i] -= rate * velocity[i];
  }
};

}  // namespace training

namespace {

using namespace training;

struct Batch {
  Tensor x;  ///< split by rows, as the labels are
  DTensor<Numbers> targets;
};

Batch random_batch(std::int64_t rows) {
  return {rand<Matrix>(world(), Shard(0), {rows, inputs}, {.seed = 1}),
          from_function<Numbers>(world(), Shard(0), {rows}, Label())};
}

class Mlp {
 public:
  Mlp() {
    module_.register_module("fc1", fc1_);
    module_.register_module("fc2", fc2_);
  }
  const nn::Module& registry() const { return module_; }
  template <class X>
  auto operator()(const X& x) const {
    return module_.forward([&] { return fc2_(ops::relu(fc1_(x))); });
  }

 private:
  nn::Linear<Matrix> fc1_{inputs, hidden, {.seed = 2}}, fc2_{hidden, classes, {.seed = 3}};
  nn::Module module_{"Mlp"};
};

/// Makes training steps by modules, an optimizer and a tape.
class ByModules {
 public:
  ByModules() { nn::watch(model_, tape_); }

  /// Returns the loss, to which each rank contributes.
  DTensor<Number> step(const Batch& batch) {
    const auto loss = ops::cross_entropy(model_(batch.x), batch.targets);
    tape_.backward(loss);
    optimizer_.step();
    optimizer_.zero_grad();
    return loss.detach();
  }
  const nn::Module& registry() const { return model_.registry(); }

 private:
  Mlp model_ = nn::distribute_module(Mlp(), world());
  grad::Tape tape_;
  nn::SGD optimizer_{model_, {.lr = rate, .momentum = momentum}};
};

Strided transposed(const Matrix& x) {
  const Kokkos::LayoutStride layout(x.extent(1), x.stride(1), x.extent(0), x.stride(0));
  return Strided(x.data(), layout);
}

template <class Kernel>
void run(std::size_t size, const Kernel& kernel) {
  Kokkos::parallel_for("perf::run", Kokkos::RangePolicy<>(0, static_cast<std::int64_t>(size)),
                       kernel);
}

/// Computes loss and gradients of the rows of this rank.
struct Gradients {
  std::int64_t rows;  ///< number of rows that all ranks have

  auto operator()(const Matrix& x, const Numbers& targets, const Matrix& w1, const Matrix& b1,
                  const Matrix& w2, const Matrix& b2) const {
    const auto y1 = ops::relu(ops::add(ops::matmul(x, transposed(w1)), b1));
    const Matrix dy2 = ops::add(ops::matmul(y1, transposed(w2)), b2);  // the logits, at first
    const Number loss("perf::loss");
    Kokkos::parallel_reduce("perf::cross_entropy",
                            Kokkos::RangePolicy<>(0, static_cast<std::int64_t>(x.extent(0))),
                            CrossEntropy{dy2, targets, static_cast<double>(rows)}, loss);
    const Matrix dy1 = ops::matmul(dy2, w2);
    run(dy1.size(), Mask{dy1, y1});
    return std::tuple(loss, Matrix(ops::matmul(transposed(dy1), x)),
                      Matrix(ops::sum(dy1, KeepDims{0})), Matrix(ops::matmul(transposed(dy2), y1)),
                      Matrix(ops::sum(dy2, KeepDims{0})));
  }
};

/// Makes training steps by loops on the Views of each rank, and one call that reduces all gradients.
class ByHand {
 public:
  /// Begins with the parameters of the other one.
  explicit ByHand(const ByModules& other) {
    const auto& module = other.registry();
    const auto row = [](const auto& bias) { return reshape(bias, {1, bias.extent(0)}); };
    using Bias = nn::Linear<Matrix>::Bias;
    weights_ = {clone(module.get<Matrix>("fc1.weight")), clone(row(module.get<Bias>("fc1.bias"))),
                clone(module.get<Matrix>("fc2.weight")), clone(row(module.get<Bias>("fc2.bias")))};
    for (std::size_t i = 0; i < weights_.size(); ++i) velocities_[i] = ops::zeros_like(weights_[i]);
  }

  DTensor<Number> step(const Batch& batch) {
    const auto partial = [](const Tensor& like) { return shaped({Partial()}, like.shape()); };
    const auto& [w1, b1, w2, b2] = weights_;
    const auto gradients = local_map(
        Gradients{batch.x.extent(0)},
        std::tuple(shaped({Partial()}, {}), partial(w1), partial(b1), partial(w2), partial(b2)),
        {{Shard(0)}, {Shard(0)}, {Replicate()}, {Replicate()}, {Replicate()}, {Replicate()}});
    const auto [loss, dw1, db1, dw2, db2] = gradients(batch.x, batch.targets, w1, b1, w2, b2);
    const auto reduced = redistribute_all(std::array{dw1, db1, dw2, db2}, Replicate());
    for (std::size_t i = 0; i < weights_.size(); ++i)
      run(weights_[i].to_local().size(),
          Update{weights_[i].to_local().data(), velocities_[i].to_local().data(),
                 reduced[i].to_local().data()});
    return loss;
  }
  const std::array<Tensor, 4>& weights() const { return weights_; }

 private:
  std::array<Tensor, 4> weights_, velocities_;
};

/// Returns the largest difference after some steps of both. Collective.
double difference_after(int steps, const Batch& batch) {
  ByModules ours;
  ByHand other(ours);
  double most = 0;
  for (int i = 0; i < steps; ++i)
    most = std::max(most, difference(ours.step(batch), other.step(batch)));
  const auto& module = ours.registry();
  most = std::max(most, difference(module.get<Matrix>("fc1.weight"), other.weights()[0]));
  return std::max(most, difference(module.get<Matrix>("fc2.weight"), other.weights()[2]));
}

void train_step(benchmark::State& state, std::int64_t rows) {
  const auto batch = random_batch(rows);
  if (!(difference_after(10, batch) <= 1e-12)) state.SkipWithError("other values");
  ByModules by_modules;
  ByHand by_hand(by_modules);
  const auto ours = [&] { benchmark::DoNotOptimize(by_modules.step(batch)); };
  const auto other = [&] { benchmark::DoNotOptimize(by_hand.step(batch)); };
  state.counters["exchanges"] = exchanges_of(ours);
  state.counters["other_exchanges"] = exchanges_of(other);
  compare(state, ours, other);
}

}  // namespace

void add_train(bool is_brief) {
  const std::int64_t rows = is_brief ? 32 : 256;
  add(
      "train/step", [rows](benchmark::State& state) { train_step(state, rows); },
      benchmark::kMillisecond);
}

}  // namespace tessera::perf
