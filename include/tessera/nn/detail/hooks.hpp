// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/error/detail/never.hpp>
#include <tessera/mesh/device_mesh.hpp>

namespace tessera::detail {

/// Stands for a function that was left out.
struct NoFunction {};

/// Gives the number of parameters of a function or of a lambda that is not generic; -1 for others.
template <class F>
struct Arity : std::integral_constant<int, -1> {};
template <class R, class... A>
struct Arity<R (*)(A...)> : std::integral_constant<int, sizeof...(A)> {};
template <class C, class R, class... A>
struct Arity<R (C::*)(A...)> : std::integral_constant<int, sizeof...(A)> {};
template <class C, class R, class... A>
struct Arity<R (C::*)(A...) const> : std::integral_constant<int, sizeof...(A)> {};
template <class F>
requires requires {
  &F::operator();
}
struct Arity<F> : Arity<decltype(&F::operator())> {};

/// Returns whether a hook may take two or three arguments. If not, it stops the compiler with a sentence.
template <class F>
consteval bool expect_hook() {
  constexpr int arity = Arity<F>::value;
  constexpr bool fits = arity == -1 || arity == 2 || arity == 3;
  static_assert(fits,
                "distribute_module: input_fn and output_fn take (module, inputs or outputs, mesh); "
                "(inputs or outputs, mesh) is deprecated");
  return fits;
}

/// Says of one hook whether a warning is due: that hooks of two arguments are deprecated.
struct HookWarning {
  const char* hook;    ///< "input_fn" or "output_fn"
  const char* values;  ///< what it takes
  bool is_due = true;

  /// Logs the warning, if it is due, and not again.
  void warn_of_two_arguments();
};

/// Holds the warnings of both hooks of a module.
struct HookWarnings {
  HookWarning input_fn{"input_fn", "inputs"};
  HookWarning output_fn{"output_fn", "outputs"};
};

/// Returns what a hook makes of `values`; the values themselves if it returns nothing.
template <class Hook, class M, class Values>
auto hooked(const Hook& hook, const M& module, Values values, const DeviceMesh& mesh,
            [[maybe_unused]] HookWarning& warning) {
  constexpr bool has_module =
      std::is_invocable_v<const Hook&, const M&, const Values&, const DeviceMesh&>;
  constexpr bool has_two = std::is_invocable_v<const Hook&, const Values&, const DeviceMesh&>;
  if constexpr (std::is_same_v<Hook, NoFunction>) {
    return values;
  } else if constexpr (has_module) {
    if constexpr (std::is_void_v<std::invoke_result_t<const Hook&, const M&, const Values&,
                                                      const DeviceMesh&>>) {
      hook(module, std::as_const(values), mesh);
      return values;
    } else {
      return hook(module, std::as_const(values), mesh);
    }
  } else if constexpr (has_two) {
    warning.warn_of_two_arguments();
    if constexpr (std::is_void_v<
                      std::invoke_result_t<const Hook&, const Values&, const DeviceMesh&>>) {
      hook(std::as_const(values), mesh);
      return values;
    } else {
      return hook(std::as_const(values), mesh);
    }
  } else {
    static_assert(never<Hook>,
                  "distribute_module: input_fn takes (module, inputs, mesh), where inputs is a "
                  "std::tuple of the inputs; output_fn takes (module, outputs, mesh); all const");
    return values;
  }
}

template <class T>
inline constexpr bool is_tuple_of_inputs = false;
template <class... T>
inline constexpr bool is_tuple_of_inputs<std::tuple<T...>> = true;

/// Returns the inputs as a tuple: a value that is none is the only input.
template <class T>
auto as_inputs(T inputs) {
  if constexpr (is_tuple_of_inputs<T>)
    return inputs;
  else
    return std::tuple<T>(std::move(inputs));
}

}  // namespace tessera::detail
