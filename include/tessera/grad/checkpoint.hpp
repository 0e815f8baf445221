// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/error/detail/never.hpp>
#include <tessera/grad/detail/recorded_loop.hpp>
#include <tessera/grad/tape.hpp>

namespace tessera::grad {

/// Says how a loop is run, and how many of its states are kept for the backward pass.
struct LoopOptions {
  int steps = 0;      ///< number of steps
  int snapshots = 1;  ///< largest number of states that are kept at a time, the first one counted
};

/// Returns f(inputs…), of which only the inputs are kept for the backward pass. That calls f again,
/// and records it then.
///
/// f gets the inputs: variables as variables, others as they are. It returns a variable. Both calls
/// of f give the same result: f uses no recorded variables besides its inputs, and a fixed seed for
/// random numbers. Both calls run under the RedistributionScope of this call; f makes other scopes
/// that it needs itself. The gradients of the inputs are passed on as they arrive, without an
/// exchange.
///
/// Example:    auto layer = [](const auto& x, const auto& w) { return ops::tanh(x * w); };
///             auto y = grad::checkpoint(layer, x, w);
/// Collective: as f; the backward pass as f and its backward pass.
/// Errors:     InvalidArgument if f uses another recorded variable; what f throws.
template <class F, class... Inputs>
requires(!std::is_same_v<Inputs, LoopOptions> && ...) auto checkpoint(F f,
                                                                      const Inputs&... inputs) {
  const auto y = detail::call_unrecorded(f, inputs...);
  if constexpr (detail::is_variable_v<std::remove_const_t<decltype(y)>>)
    return detail::recorded_rerun(std::move(f), y, inputs...);
  else
    return detail::Unusable();
}

/// Returns the state after options.steps steps: state = step(state, i, parameters…) for i = 0, 1, …
///
/// The backward pass needs the states in reverse order. At most options.snapshots states are kept
/// at a time, the first one counted. The steps between them run again from the nearest earlier
/// snapshot, as few of them as is possible: by the binomial schedule of Griewank and Walther
/// (revolve). With s snapshots, each of n <= (s + r)! / (s! r!) steps runs at most r times without
/// being recorded, and once while it is recorded. Example: of 1000 steps with 10 snapshots, each
/// runs at most 4 + 1 times, and 4636 run in all. One recorded step is kept besides the snapshots.
///
/// step gets the state as a variable, the number of the step (an int), and the parameters:
/// variables as variables, others as they are. It returns the next state, a variable of the same
/// kind. The rules for f above hold for step, too: variables that it uses are parameters.
/// A second backward pass, after {.retain = true}, begins with the first state again.
///
/// Example:    auto step = [](const auto& u, int, const auto& c) { return u - 0.1 * c * u * u; };
///             auto u = grad::checkpoint(step, u0, {.steps = 1000, .snapshots = 10}, c);
/// Collective: as the steps; the backward pass as the steps and their backward passes.
/// Errors:     InvalidArgument for less than 0 steps, less than 1 snapshot, or a step that uses
///             another recorded variable; what step throws.
template <class Step, class State, class... Parameters>
auto checkpoint(Step step, const State& state, const LoopOptions& options,
                const Parameters&... parameters) {
  using T = typename detail::NextState<Step, detail::value_of_t<State>, Parameters...>::type;
  constexpr bool fits = detail::is_also<T, detail::value_of_t<State>>;
  static_assert(
      fits,
      "checkpoint: step returns a state of another kind than it gets: it gets a variable, "
      "and returns one with the same element type, number of dims and memory");
  if constexpr (fits) {
    static_assert(
        std::is_same_v<typename detail::NextState<Step, T, Parameters...>::type, T>,
        "checkpoint: step returns a variable of another type for each state that it gets");
    detail::require_steps(options.steps, options.snapshots);
    auto current = detail::as_state<T>(state);
    const auto tape = detail::tape_of(current, parameters...);
    if (tape && options.steps > 0) {
      const auto loop = std::make_shared<detail::RecordedLoop<Step, T, Parameters...>>(
          *tape, std::move(step), options.steps, options.snapshots, current, parameters...);
      const auto last = loop->run();
      return detail::recorded(tape, last, [loop](const auto& dy) { loop->run_back(dy); });
    }
    for (int i = 0; i < options.steps; ++i)
      current = detail::call_unrecorded(step, current, i, parameters...);
    return current;
  } else {
    return detail::Unusable();
  }
}

}  // namespace tessera::grad
