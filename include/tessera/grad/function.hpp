// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/error/detail/never.hpp>
#include <tessera/grad/detail/kept.hpp>
#include <tessera/grad/detail/vjp.hpp>
#include <tessera/grad/tape.hpp>

namespace tessera::grad {

/// Is a function of whole arrays with its adjoint, made by function().
template <class Forward, class Vjp>
class Function {
 public:
  Function(Forward forward, Vjp vjp)
      : forward_(std::move(forward)), vjp_(std::make_shared<const Vjp>(std::move(vjp))) {}

  /// Calls it, see function().
  template <class... A>
  auto operator()(const A&... arguments) const {
    const auto y = forward_(detail::value_of(arguments)...);
    constexpr bool is_array = detail::is_array_v<std::remove_const_t<decltype(y)>>;
    static_assert(is_array,
                  "grad::function: forward returns a tensor, or a View; it gets values, not "
                  "variables, and uses no others");
    if constexpr (!is_array)
      return detail::Unusable();
    else if constexpr (!detail::HasVariable<A...>)
      return y;
    else
      return record(std::index_sequence_for<A...>(), y, arguments...);
  }

 private:
  template <std::size_t... I, class Y, class... A>
  auto record(std::index_sequence<I...>, const Y& y, const A&... arguments) const {
    using Arguments = std::tuple<detail::value_of_t<A>..., Y, detail::gradient_t<Y>>;
    if constexpr (!detail::expect_vjp<false, Vjp, Arguments, A...>()) {
      return detail::Unusable();
    } else {
      const auto tape = detail::tape_of(arguments...);
      if (!tape) return detail::unrecorded(y);
      const detail::KeptTuple<A...> inputs{detail::keep_argument(*tape, "function", arguments)...};
      const auto output = detail::keep_argument(*tape, "function", y);
      return detail::recorded(tape, y, [vjp = vjp_, inputs, output](const auto& dy) {
        const auto gradients =
            detail::as_tuple((*vjp)(std::get<I>(inputs).value()..., output.value(), dy));
        (add<A, detail::variables_before<I, A...>()>(std::get<I>(inputs), gradients), ...);
      });
    }
  }

  /// Passes on the gradient number k, if A is a variable.
  template <class A, std::size_t k, class Kept, class Gradients>
  static void add(const Kept& input, const Gradients& gradients) {
    if constexpr (detail::is_variable_v<A>) {
      const auto& gradient = std::get<k>(gradients);
      detail::named("function", [&] {
        detail::require_gradient_shape(input.form().shape(), detail::shape_of(gradient));
      });
      if (input.is_wanted()) input.add(gradient);
    }
  }

  Forward forward_;
  std::shared_ptr<const Vjp> vjp_;
};

/// Returns a callable on variables that computes forward(…), and has the adjoint vjp.
///
/// forward: gets the value of each variable, and other arguments as they are. It returns a DTensor,
///          or a View if the variables are LocalVariables.
/// vjp:     gets the same, the result, and the gradient dy of the result, which may have any
///          placements, Partial too. It returns one gradient for each argument that is a variable,
///          in their order: a single one, or a std::tuple or std::pair. A gradient has the shape of
///          its argument, and any placements. For complex numbers it is that of the scalar product
///          Re Σ conj(a) b.
/// Without a variable among the arguments the result is what forward returns.
///
/// Example:    auto cube = grad::function(
///                 [](const auto& x) { return x * x * x; },
///                 [](const auto& x, const auto&, const auto& dy) { return 3 * x * x * dy; });
///             auto y = cube(x);
/// Collective: as forward is; the backward pass as vjp is. vjp runs as under
///             RedistributionScope(Redistribution::any).
/// Errors:     InvalidArgument, in the backward pass, for a gradient of another shape; what forward
///             and vjp throw.
template <class Forward, class Vjp>
Function<Forward, Vjp> function(Forward forward, Vjp vjp) {
  return {std::move(forward), std::move(vjp)};
}

}  // namespace tessera::grad
