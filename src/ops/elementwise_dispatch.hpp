// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <utility>

#include "ops/elementwise_function.hpp"
#include "ops/elementwise_types.hpp"

namespace tessera::detail {

template <class T>
constexpr unsigned kind_bit() {
  if constexpr (std::is_same_v<T, Boolean>)
    return bools;
  else if constexpr (std::is_integral_v<T>)
    return integers;
  else
    return is_complex_number<T> ? complexes : floats;
}

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<Complex<T>> {
  using type = T;
};

/// Returns whether the operator does the same bitwise with signed and unsigned integers.
constexpr bool wraps_around(ElementwiseOp op) {
  using enum ElementwiseOp;
  return op == negate || op == square || op == real || op == imag || op == conj || op == add ||
         op == subtract || op == multiply || op == equal_to || op == not_equal_to || op == axpby;
}

/// Returns whether there is a kernel for elements of type T; see run_elementwise().
template <ElementwiseOp op, class T>
consteval bool has_kernel() {
  if constexpr ((traits_of(op).kinds & kind_bit<T>()) == 0)
    return false;
  else if constexpr (op == ElementwiseOp::where)
    return std::is_unsigned_v<T> || is_complex_number<T> || std::is_same_v<T, long double>;
  else
    return !std::is_signed_v<T> || !std::is_integral_v<T> || !wraps_around(op);
}

/// Runs operator `op` on elements of type T.
template <ElementwiseOp op, class T>
void run_operator(const Execution& execution, const ElementwiseLoops& loops,
                  std::span<const OperandRef> numbers) {
  constexpr const auto& traits = traits_of(op);
  if constexpr (has_kernel<op, T>()) {
    const auto* const label = traits.label;
    if constexpr (op == ElementwiseOp::where) {
      run_elementwise_kernel<T, Boolean, T, T>(execution, label, loops,
                                               ElementwiseFunction<op, T>());
    } else if constexpr (op == ElementwiseOp::clamp) {
      const ClampFunction<T> function{numbers[0].value.as<T>(), numbers[1].value.as<T>()};
      run_elementwise_kernel<T, T>(execution, label, loops, function);
    } else if constexpr (op == ElementwiseOp::axpby) {
      const AxpbyFunction<T> function{numbers[0].value.as<T>(), numbers[1].value.as<T>()};
      run_elementwise_kernel<T, T, T>(execution, label, loops, function);
    } else {
      using Out = std::conditional_t<
          traits.result == ResultKind::boolean, Boolean,
          std::conditional_t<traits.result == ResultKind::real, typename RealPart<T>::type, T>>;
      if constexpr (traits.tensors == 1)
        run_elementwise_kernel<Out, T>(execution, label, loops, ElementwiseFunction<op, T>());
      else
        run_elementwise_kernel<Out, T, T>(execution, label, loops, ElementwiseFunction<op, T>());
    }
  }
}

/// Runs the operator `op`, known at run time, on elements of type T.
template <class T>
void run_on(const Execution& execution, ElementwiseOp op, const ElementwiseLoops& loops,
            std::span<const OperandRef> numbers) {
  using Run = void (*)(const Execution&, const ElementwiseLoops&, std::span<const OperandRef>);
  static constexpr auto all = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Run, sizeof...(I)>{&run_operator<static_cast<ElementwiseOp>(I), T>...};
  }
  (std::make_index_sequence<elementwise_table.size()>());
  all[static_cast<std::size_t>(op)](execution, loops, numbers);
}

}  // namespace tessera::detail
