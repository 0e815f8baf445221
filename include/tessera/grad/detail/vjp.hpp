// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/grad/detail/kept.hpp>

namespace tessera::detail {

/// Names a T itself if it is a tuple, a tuple of the elements of a pair, and a tuple of T
/// otherwise.
template <class T>
struct AsTuple {
  using type = std::tuple<T>;
};
template <class... Ts>
struct AsTuple<std::tuple<Ts...>> {
  using type = std::tuple<Ts...>;
};
template <class A, class B>
struct AsTuple<std::pair<A, B>> {
  using type = std::tuple<A, B>;
};
template <class T>
using as_tuple_t = typename AsTuple<T>::type;

/// Returns the value as a tuple, see AsTuple.
template <class T>
as_tuple_t<T> as_tuple(const T& value) {
  return as_tuple_t<T>(value);
}

/// Counts the variables among the first N of these types.
template <std::size_t N, class... A>
consteval std::size_t variables_before() {
  constexpr bool is_variable[] = {is_variable_v<A>..., false};
  std::size_t count = 0;
  for (std::size_t i = 0; i < N; ++i) count += is_variable[i] ? 1 : 0;
  return count;
}
template <class... A>
inline constexpr std::size_t variable_count = variables_before<sizeof...(A), A...>();

/// Tells whether vjp may return a G for an argument of type A: an array of as many dims. That is a
/// View where vjp is local, else a tensor for a tensor.
template <bool is_local, class A, class G>
inline constexpr bool fits_as_gradient = is_array_v<G>&& is_dtensor_v<G> ==
                                         (!is_local && is_dtensor_v<value_of_t<A>>)&&  //
                                         operand_rank<G> == operand_rank<A>;

/// Tells whether each variable among A has a gradient that fits among Gradients, a tuple.
template <bool is_local, class Gradients, class... A>
consteval bool fit_as_gradients() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    const auto is_right = []<std::size_t i, class T>() {
      if constexpr (is_variable_v<T>)
        return fits_as_gradient<is_local, T,
                                std::tuple_element_t<variables_before<i, A...>(), Gradients>>;
      else
        return true;
    };
    return (is_right.template operator()<I, A>() && ...);
  }
  (std::index_sequence_for<A...>());
}

/// Names what vjp returns when it is called with the elements of a tuple.
template <class Vjp, class Arguments>
struct VjpResult;
template <class Vjp, class... Arguments>
struct VjpResult<Vjp, std::tuple<Arguments...>> {
  static constexpr bool is_callable = true;
  using type = std::remove_cvref_t<std::invoke_result_t<const Vjp&, const Arguments&...>>;
};
template <class Vjp, class... Arguments>
requires(!std::is_invocable_v<const Vjp&, const Arguments&...>) struct VjpResult<
    Vjp, std::tuple<Arguments...>> {
  static constexpr bool is_callable = false;
};

/// Returns whether vjp can be called with Arguments, a tuple, and returns gradients of the
/// variables among A. If not, it stops the compiler with a sentence.
template <bool is_local, class Vjp, class Arguments, class... A>
consteval bool expect_vjp() {
  constexpr bool is_callable = VjpResult<Vjp, Arguments>::is_callable;
  static_assert(is_callable,
                "vjp cannot be called: it needs a parameter, by value or as const&, for each "
                "argument, then for each result, then for the gradient of each result");
  if constexpr (is_callable) {
    using Gradients = as_tuple_t<typename VjpResult<Vjp, Arguments>::type>;
    constexpr bool are_as_many = std::tuple_size_v<Gradients> == variable_count<A...>;
    static_assert(are_as_many,
                  "vjp returns one gradient for each argument that is a variable, in their order: "
                  "a single one, or a std::tuple");
    if constexpr (are_as_many) {
      constexpr bool fit = fit_as_gradients<is_local, Gradients, A...>();
      static_assert(!is_local || fit,
                    "grad::local_map: vjp returns local Views with as many dims as the arguments");
      static_assert(is_local || fit,
                    "grad::function: vjp returns a tensor for a Variable, and a View for a "
                    "LocalVariable, with as many dims as the argument");
      return fit;
    }
  }
  return false;
}

}  // namespace tessera::detail
