// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// The training of examples/train by plain loops on one rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tessera::test {

using Values = std::vector<double>;

/// Holds a layer y = x Wᵀ + b, and the gradients of its parameters.
struct LoopLayer {
  std::size_t in, out;
  Values weight, bias;  ///< weight (out, in)
  Values weight_gradient, bias_gradient;

  /// Returns y of each row of x.
  Values forward(const Values& x) const {
    Values y;
    for (std::size_t row = 0; row < x.size() / in; ++row)
      for (std::size_t o = 0; o < out; ++o) {
        double sum = bias[o];
        for (std::size_t i = 0; i < in; ++i) sum += x[row * in + i] * weight[o * in + i];
        y.push_back(sum);
      }
    return y;
  }

  /// Sets the gradients of the parameters, and returns that of x.
  Values backward(const Values& x, const Values& dy) {
    Values dx(x.size());
    weight_gradient.assign(weight.size(), 0);
    bias_gradient.assign(bias.size(), 0);
    for (std::size_t row = 0; row < x.size() / in; ++row)
      for (std::size_t o = 0; o < out; ++o) {
        const double d = dy[row * out + o];
        bias_gradient[o] += d;
        for (std::size_t i = 0; i < in; ++i) {
          weight_gradient[o * in + i] += d * x[row * in + i];
          dx[row * in + i] += d * weight[o * in + i];
        }
      }
    return dx;
  }
};

/// Holds the two layers of the network. An update gets each parameter with its gradient.
struct LoopNetwork {
  LoopLayer fc1, fc2;

  /// Changes the parameters by one step, and returns the loss before it.
  double step(const Values& x, const std::vector<std::int64_t>& labels,
              const std::function<void(std::size_t, Values&, const Values&)>& update) {
    auto hidden = fc1.forward(x);
    for (auto& value : hidden) value = std::max(value, 0.0);
    auto logits = fc2.forward(hidden);
    const double loss = to_gradient(logits, labels);
    auto of_hidden = fc2.backward(hidden, logits);
    for (std::size_t i = 0; i < hidden.size(); ++i)
      if (hidden[i] <= 0) of_hidden[i] = 0;
    fc1.backward(x, of_hidden);
    update(0, fc1.weight, fc1.weight_gradient);
    update(1, fc1.bias, fc1.bias_gradient);
    update(2, fc2.weight, fc2.weight_gradient);
    update(3, fc2.bias, fc2.bias_gradient);
    return loss;
  }

 private:
  /// Returns the mean cross entropy, and replaces the logits by its gradient.
  double to_gradient(Values& logits, const std::vector<std::int64_t>& labels) const {
    const double rows = static_cast<double>(labels.size());
    double loss = 0;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      double* const y = logits.data() + row * fc2.out;
      const auto target = static_cast<std::size_t>(labels[row]);
      double sum = 0;
      for (std::size_t j = 0; j < fc2.out; ++j) sum += std::exp(y[j]);
      loss += std::log(sum) - y[target];
      for (std::size_t j = 0; j < fc2.out; ++j)
        y[j] = (std::exp(y[j]) / sum - (j == target ? 1 : 0)) / rows;
    }
    return loss / rows;
  }
};

/// Updates parameters by gradient descent with momentum.
struct LoopSgd {
  double lr, momentum;
  std::vector<Values> velocities = std::vector<Values>(4);

  void operator()(std::size_t parameter, Values& values, const Values& gradients) {
    auto& velocity = velocities[parameter];
    velocity.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      velocity[i] = momentum * velocity[i] + gradients[i];
      values[i] -= lr * velocity[i];
    }
  }
};

/// Updates parameters by Adam with its usual constants.
struct LoopAdam {
  double lr;
  std::vector<Values> means = std::vector<Values>(4), squares = std::vector<Values>(4);
  std::vector<int> steps = std::vector<int>(4);

  void operator()(std::size_t parameter, Values& values, const Values& gradients) {
    auto &mean = means[parameter], &square = squares[parameter];
    mean.resize(values.size());
    square.resize(values.size());
    const int step = ++steps[parameter];
    const double of_mean = 1 - std::pow(0.9, step), of_square = 1 - std::pow(0.999, step);
    for (std::size_t i = 0; i < values.size(); ++i) {
      mean[i] = 0.9 * mean[i] + 0.1 * gradients[i];
      square[i] = 0.999 * square[i] + 0.001 * gradients[i] * gradients[i];
      values[i] -= lr * (mean[i] / of_mean) / (std::sqrt(square[i] / of_square) + 1e-8);
    }
  }
};

}  // namespace tessera::test
