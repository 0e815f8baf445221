// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <tessera/error/detail/never.hpp>
#include <tessera/nn/module.hpp>

namespace tessera::nn {

/// Says how Adam updates parameters.
struct AdamOptions {
  double lr = 1e-3;         ///< learning rate
  double beta1 = 0.9;       ///< how much of its last value the mean of gradients keeps
  double beta2 = 0.999;     ///< how much of its last value the mean of squares keeps
  double eps = 1e-8;        ///< is added to the denominator
  double weight_decay = 0;  ///< the parameter times this number is added to its gradient
};

/// Adam updates the trainable parameters of a module by the method of this name, with PyTorch's formulas. In
/// step t, counted from 1 for each parameter, for a parameter p with gradient g:
///   g ← g + weight_decay p;   m ← m + (1 - beta1) (g - m);   v ← beta2 v + (1 - beta2) g²;
///   p ← p - lr / (1 - beta1^t) m / (√v / √(1 - beta2^t) + eps).
/// Real and imaginary parts of complex parameters are updated as two real numbers.
///
/// Each rank updates its own pieces, and holds m and v for these alone. Replicas of a parameter stay
/// bit-equal, and the bits of an element do not depend on the placements, but for those of its gradient.
/// It keeps the parameters, and copies of it share what it has: m, v, t and the options. Like
/// modules, it is used by one thread.
///
/// Example: nn::Adam optimizer(model, {.lr = 1e-3});
///          tape.backward(ops::cross_entropy(model(x), targets));
///          optimizer.step();
///          optimizer.zero_grad();
/// Source: Kingma and Ba, Adam: A Method for Stochastic Optimization (2015).
class Adam {
 public:
  /// Takes the parameters of the module and of its submodules. Local. Errors: InvalidArgument before
  /// distribute_module(); for a module without trainable parameters; for parameters that are no
  /// numbers of type float or double, or complex numbers of these, or that are Partial; for lr, eps or
  /// weight_decay below 0; and for betas out of [0, 1).
  explicit Adam(const Module& module, const AdamOptions& options = {});
  /// Takes an object with a registry.
  template <HasRegistry M>
  explicit Adam(const M& model, const AdamOptions& options = {})
      : Adam(model.registry(), options) {}

  /// Stops the compiler: an optimizer takes a module.
  template <class M>
  requires(!HasRegistry<M>) explicit Adam(const M&, const AdamOptions& = {}) {
    static_assert(detail::never<M>,
                  "nn::Adam takes an object whose function registry() const returns its "
                  "nn::Module");
  }

  /// Updates all parameters that have a gradient. Where Module::set() has given a parameter another
  /// spec, its m, v and t begin anew.
  ///
  /// Local: there is no exchange. Errors: InvalidArgument, before anything is written, for a parameter whose
  /// elements a tape needs for its backward pass, on the ranks on which it has elements. The other ranks
  /// change their pieces, so that replicas differ from then on: end the program, or set all parameters anew.
  void step();
  /// Forgets the gradients of all parameters. Local.
  void zero_grad();

  /// Returns the options.
  const AdamOptions& options() const;
  /// Sets the learning rate of the next steps. Errors: InvalidArgument for one below 0.
  void set_lr(double lr);

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace tessera::nn
