// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <tessera/error/detail/never.hpp>
#include <tessera/nn/module.hpp>

namespace tessera::nn {

/// Says how SGD updates parameters.
struct SgdOptions {
  double lr = 1e-3;         ///< learning rate
  double momentum = 0;      ///< how much of its last value the momentum keeps
  double dampening = 0;     ///< how much of a gradient the momentum leaves out
  double weight_decay = 0;  ///< the parameter times this number is added to its gradient
  bool nesterov = false;    ///< whether the step uses g + momentum b instead of b
};

/// SGD updates the trainable parameters of a module by stochastic gradient descent, with PyTorch's formulas.
/// For a parameter p with gradient g:
///   g ← g + weight_decay p;   with momentum, from the second step on:
///   b ← momentum b + (1 - dampening) g, at first b ← g;   g ← b, or g + momentum b with nesterov;
///   p ← p - lr g.
/// Real and imaginary parts of complex parameters are updated as two real numbers.
///
/// Each rank updates its own pieces, and holds b for these alone. Replicas of a parameter stay bit-equal,
/// and the bits of an element do not depend on the placements, but for those of its gradient.
/// It keeps the parameters, and copies of it share what it has: the momentum and the options. Like
/// modules, it is used by one thread.
///
/// Example: nn::SGD optimizer(model, {.lr = 0.1, .momentum = 0.9});
///          tape.backward(ops::cross_entropy(model(x), targets));
///          optimizer.step();
///          optimizer.zero_grad();
class SGD {
 public:
  /// Takes the parameters of the module and of its submodules. Local. Errors: InvalidArgument before
  /// distribute_module(); for a module without trainable parameters; for parameters that are no
  /// numbers of type float or double, or complex numbers of these, or that are Partial; for a learning rate,
  /// momentum or weight decay below 0; and for nesterov without momentum or with dampening.
  explicit SGD(const Module& module, const SgdOptions& options = {});
  /// Takes an object with a registry.
  template <HasRegistry M>
  explicit SGD(const M& model, const SgdOptions& options = {}) : SGD(model.registry(), options) {}

  /// Stops the compiler: an optimizer takes a module.
  template <class M>
  requires(!HasRegistry<M>) explicit SGD(const M&, const SgdOptions& = {}) {
    static_assert(detail::never<M>,
                  "nn::SGD takes an object whose function registry() const returns its "
                  "nn::Module");
  }

  /// Updates all parameters that have a gradient. Where Module::set() has given a parameter another
  /// spec, its momentum begins anew.
  ///
  /// Local: there is no exchange. Errors: InvalidArgument, before anything is written, for a parameter whose
  /// elements a tape needs for its backward pass, on the ranks on which it has elements. The other ranks
  /// change their pieces, so that replicas differ from then on: end the program, or set all parameters anew.
  void step();
  /// Forgets the gradients of all parameters. Local.
  void zero_grad();

  /// Returns the options.
  const SgdOptions& options() const;
  /// Sets the learning rate of the next steps. Errors: InvalidArgument for one below 0.
  void set_lr(double lr);

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace tessera::nn
