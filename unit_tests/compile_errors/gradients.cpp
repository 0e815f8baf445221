// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#ifdef MISTAKE_variables_in_forward
// expect: grad::function: forward returns a tensor, or a View; it gets values, not variables
void program() {
  auto f = grad::function([](const auto& a) { return ops::multiply(a, variable); },
                          [](const auto&, const auto&, const auto& dy) { return dy; });
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_vjp_of_fewer_arguments
// expect: vjp cannot be called: it needs a parameter
void program() {
  auto f = grad::function([](const auto& a) { return a; },
                          [](const auto&, const auto& dy) { return dy; });
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_vjp_that_returns_a_view
// expect: grad::function: vjp returns a tensor for a Variable
void program() {
  auto f = grad::function([](const auto& a) { return a; },
                          [](const auto&, const auto&, const auto&) { return view; });
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_checkpoint_of_a_tensor
// expect: checkpoint: the function returns no variable
void program() {
  auto z = grad::checkpoint([](const auto& a) { return a.detach(); }, variable);
}
#endif

#ifdef MISTAKE_step_to_another_state
// expect: checkpoint: step returns a state of another kind than it gets
void program() {
  const auto step = [](const auto& a, int) { return a.detach(); };
  auto z = grad::checkpoint(step, variable, {.steps = 3, .snapshots = 2});
}
#endif

#ifdef MISTAKE_gradients_as_meant
// expect: compiles
void program() {
  auto f = grad::function(
      [](const auto& a, double b) { return ops::multiply(a, b); },
      [](const auto&, double b, const auto&, const auto& dy) { return ops::multiply(dy, b); });
  grad::Variable<Matrix> a = f(variable, 2.0);
  DTensor<Matrix> b = f(x, 2.0);
  a = grad::checkpoint([](const auto& c) { return ops::exp(c); }, variable);
  const auto step = [](const auto& c, int, double d) { return ops::multiply(c, d); };
  a = grad::checkpoint(step, x, {.steps = 3, .snapshots = 2}, 0.5);
}
#endif
