// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/error/detail/never.hpp>
#include <tessera/local_map/detail/arguments.hpp>
#include <tessera/local_map/placements.hpp>

namespace tessera::detail {

/// Names what func gets for an argument: the local View of a DTensor, another argument as it is.
template <class Argument>
using Localized = decltype(std::declval<Localizer&>()(std::declval<Argument>()));

template <class T>
inline constexpr bool is_tuple_v = false;
template <class... Ts>
inline constexpr bool is_tuple_v<std::tuple<Ts...>> = true;
template <class A, class B>
inline constexpr bool is_tuple_v<std::pair<A, B>> = true;

/// Tells whether func is a generic lambda or another object whose operator() is a template.
template <class Function>
inline constexpr bool is_generic = std::is_class_v<Function> && !requires {
  &Function::operator();
};

/// Chosen<Function> calls func where that has the parameters for the arguments, even if an error is
/// inside; otherwise it gives Unusable.
template <class Function>
struct Chosen : Function {
  using Function::operator();
  template <class... Arguments>
  Unusable operator()(const Arguments&...) const;
};

/// Names what a call returns that was stopped by a sentence; as many values as func returns.
template <class Result>
struct Stopped {
  using type = Unusable;
};
template <class... Ts>
struct Stopped<std::tuple<Ts...>> {
  using type = std::tuple<std::conditional_t<true, Unusable, Ts>...>;
};
template <class A, class B>
struct Stopped<std::pair<A, B>> : Stopped<std::tuple<A, B>> {};

/// Returns whether a function that returns a Result may have the output placement Out. If not, it
/// stops the compiler with a sentence.
template <class Result, class Out>
consteval bool expect_output() {
  if constexpr (std::is_same_v<Out, None>) {
    return true;
  } else if constexpr (std::is_void_v<Result>) {
    static_assert(never<Out>,
                  "local_map: func returns nothing; write none as its output placement");
  } else if constexpr (is_dtensor_v<Result>) {
    static_assert(never<Result>,
                  "local_map: func returns a DTensor; return a local View, or write none as the "
                  "output placement");
  } else if constexpr (is_tuple_v<Result> != is_tuple_v<Out>) {
    static_assert(!is_tuple_v<Result>,
                  "local_map: func returns a tuple; write a std::tuple of output placements, as in "
                  "std::tuple(Placements{Shard(0)}, none)");
    static_assert(is_tuple_v<Result>,
                  "local_map: func does not return a tuple; write one output placement instead of "
                  "a std::tuple");
  } else if constexpr (!is_tuple_v<Result>) {
    static_assert(Kokkos::is_view_v<Result>,
                  "local_map: func returns something that is no View; write none as its output "
                  "placement");
    return Kokkos::is_view_v<Result>;
  } else if constexpr (std::tuple_size_v<Result> != std::tuple_size_v<Out>) {
    static_assert(never<Result>,
                  "local_map: expected one output placement for each element of the tuple that "
                  "func returns");
  } else {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (expect_output<std::tuple_element_t<I, Result>, std::tuple_element_t<I, Out>>() &&
              ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Out>>());
  }
  return false;
}

/// Tells whether the parameters of func fit the arguments. An error inside func does not count.
template <class Function, class... LocalArguments>
inline constexpr bool fits = std::is_invocable_v<const Function&, LocalArguments...>;
template <class Function, class... LocalArguments>
requires is_generic<Function>
inline constexpr bool fits<Function, LocalArguments...> = !requires(const Chosen<Function>& func) {
  { func(std::declval<LocalArguments>()...) } -> std::same_as<Unusable>;
};

/// Returns whether no argument is a variable, or a container of variables. If one is, it stops the
/// compiler with a sentence.
template <class... Arguments>
consteval bool expect_no_variables() {
  constexpr bool fit = !(has_variable_v<Arguments> || ...);
  static_assert(fit,
                "local_map: an argument is a variable, and its gradient would be lost; use "
                "grad::local_map(func, vjp, ...), or pass variable.detach()");
  return fit;
}

/// Returns whether func can be called with these arguments. If not, it stops the compiler with a
/// sentence.
template <class Function, class... LocalArguments>
consteval bool expect_callable() {
  // The call itself comes first: the compiler then reports an error inside a generic func here, and
  // names no other templates.
  constexpr bool is_callable = requires(const Function& func) {
    func(std::declval<LocalArguments>()...);
  }
  || std::is_invocable_v<const Function&, LocalArguments...>;
  if constexpr (is_callable) {
    return true;
  } else {
    constexpr bool is_mutable =
        !is_generic<Function> && std::is_invocable_v<Function&, LocalArguments...>;
    static_assert(!is_mutable,
                  "local_map: func is called as const; remove mutable from the lambda");
    static_assert(is_mutable || fits<Function, LocalArguments...>,
                  "local_map: func cannot be called with the local Views of these arguments; it "
                  "needs a parameter for each argument: V or const V& for a DTensor<V>, and the "
                  "argument's own type for everything else");
    return false;
  }
}

}  // namespace tessera::detail
