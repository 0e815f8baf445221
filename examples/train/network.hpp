// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <tessera/tessera.hpp>

#include "digits.hpp"

/// This part of the program is the network, and one step of its training.
namespace train {

/// Has two layers. From pictures in rows it computes logits: a number for each digit.
class Network {
 public:
  Network(std::int64_t inputs, std::int64_t hidden, std::uint64_t seed)
      : fc1_(inputs, hidden, {.seed = seed}), fc2_(hidden, classes, {.seed = seed + 1}) {
    module_.register_module("fc1", fc1_);
    module_.register_module("fc2", fc2_);
  }

  const tessera::nn::Module& registry() const { return module_; }

  template <class X>
  auto operator()(const X& pictures) const {
    return module_.forward([&] { return fc2_(tessera::ops::relu(fc1_(pictures))); });
  }

 private:
  tessera::nn::Linear<Matrix> fc1_, fc2_;
  tessera::nn::Module module_{"Network"};
};

/// Returns a network whose hidden numbers are split along "tp": the first layer by its outputs, the second one by
/// its inputs. Ranks along "dp" have copies of it.
inline Network distributed(const Network& network, const DeviceMesh& mesh) {
  return tessera::nn::distribute_module(
      network, mesh,
      [](const std::string& name, tessera::nn::Module& module, const DeviceMesh& mesh) {
        if (name == "fc1") tessera::nn::column_parallel(module, mesh, "tp");
        if (name == "fc2") tessera::nn::row_parallel(module, mesh, "tp");
      });
}

/// Changes the network by one step of training. Returns the mean loss of the batch before it, to which each rank
/// contributes. The gradients travel together.
template <class Optimizer, class Pictures, class Labels>
auto training_step(const Network& network, tessera::grad::Tape& tape, Optimizer& optimizer,
                   const DTensor<Pictures>& pictures, const DTensor<Labels>& labels) {
  const auto loss = tessera::ops::cross_entropy(network(pictures), labels);
  tape.backward(loss);
  optimizer.step();
  optimizer.zero_grad();
  return loss.detach();
}

/// Returns the percentage of digits whose largest logit is that of the label. Collective: two exchanges or less.
inline double accuracy(const Network& network, const Batches& digits) {
  const auto logits = network(slice(digits.pictures, 0, tessera::all, tessera::all)).detach();
  const auto found = tessera::ops::argmax(reduce_partial(logits), 1);
  const auto right = tessera::ops::equal_to(found, slice(digits.labels, 0, tessera::all));
  return 100 * static_cast<double>(item(tessera::ops::count_nonzero(right))) /
         static_cast<double>(digits.labels.extent(1));
}

}  // namespace train
