// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/grad/variable.hpp>
#include <tessera/ops/elementwise.hpp>

// Elementwise operators on variables: they compute as on tensors and Views, and are recorded.
//
// abs, sqrt and relu have the gradient 0 at 0, pow with respect to the exponent where the base is 0; sign has 0
// everywhere. minimum and maximum share the gradient where both operands are equal, clamp gives all of
// it at its limits.
namespace tessera {

namespace detail {

/// Returns whether Partial operands pass through an operator without being reduced.
template <ElementwiseOp op, class... A>
consteval bool passes_partial() {
  constexpr auto how = traits_of(op).on_partial;
  if (how == OnPartial::linear || how == OnPartial::adds || how == OnPartial::selects) return true;
  if (how == OnPartial::reverses) return true;
  if (how == OnPartial::scales || how == OnPartial::divides) return (is_number_v<A> || ...);
  return false;
}

/// Returns an operand of a recorded operation. A Partial variable is reduced first, as an operation of its own:
/// so the backward pass has the reduced values.
template <class A>
A reduced_operand(const A& operand, const char* function) {
  if constexpr (is_variable_v<A>) {
    using T = std::remove_cvref_t<decltype(operand.detach())>;
    if constexpr (is_dtensor_v<T>) {
      if constexpr (std::is_same_v<T, gradient_t<T>>) {
        const auto& value = operand.detach();
        if (!value.placements().has_partial()) return operand;
        require_may_reduce(value.spec(), function);
        const auto tape = tape_of(operand);
        const auto reduced = reduce_partial(value);
        if (!tape) return unrecorded(reduced);
        const auto slot = VariableAccess::slot(operand);
        return recorded(tape, reduced, [slot](const gradient_t<T>& dy) { slot->add(dy); });
      }
    }
  }
  return operand;
}

template <ElementwiseOp op>
inline constexpr bool is_comparison = traits_of(op).result == ResultKind::boolean;

/// Tells whether the adjoint of an operator of one tensor needs that.
template <ElementwiseOp op>
inline constexpr bool needs_operand = [] {
  using enum ElementwiseOp;
  return op == abs || op == square || op == log || op == sin || op == cos || op == clamp;
}();
/// Tells whether it needs the result.
template <ElementwiseOp op>
inline constexpr bool needs_result = [] {
  using enum ElementwiseOp;
  return op == abs || op == sqrt || op == exp || op == tanh || op == sigmoid || op == relu;
}();

/// Returns the gradient with respect to the operand x of a function with the value y. Both are Inputs.
template <ElementwiseOp op, class T, class G, class X, class Y, class... Numbers>
auto unary_adjoint(const G& dy, const X& x, const Y& y, const Numbers&... numbers) {
  using enum ElementwiseOp;
  constexpr bool is_complex = ComplexNumber<typename OperandElement<T>::type>;
  if constexpr (op == negate) {
    return ops::negate(dy);
  } else if constexpr (op == abs && is_complex) {
    const auto& value = x.value();
    const auto& size = y.value();
    return ops::where(ops::equal_to(size, 0), value, ops::divide(ops::multiply(value, dy), size));
  } else if constexpr (op == abs) {
    return ops::multiply(dy, ops::sign(x.value()));
  } else if constexpr (op == sign || (op == imag && !is_complex)) {
    return x.form().zeros();
  } else if constexpr (op == square) {
    return ops::multiply(ops::multiply(dy, 2), conjugate(x.value()));
  } else if constexpr (op == sqrt) {
    const auto& root = y.value();
    return ops::where(ops::equal_to(root, 0), 0,
                      ops::divide(dy, ops::multiply(conjugate(root), 2)));
  } else if constexpr (op == exp) {
    return ops::multiply(dy, conjugate(y.value()));
  } else if constexpr (op == log) {
    return ops::divide(dy, conjugate(x.value()));
  } else if constexpr (op == sin) {
    return ops::multiply(dy, conjugate(ops::cos(x.value())));
  } else if constexpr (op == cos) {
    return ops::negate(ops::multiply(dy, conjugate(ops::sin(x.value()))));
  } else if constexpr (op == tanh) {
    return ops::multiply(dy, conjugate(ops::subtract(1, ops::square(y.value()))));
  } else if constexpr (op == sigmoid) {
    return ops::multiply(dy, ops::multiply(y.value(), ops::subtract(1, y.value())));
  } else if constexpr (op == relu) {
    return ops::where(ops::greater(y.value(), 0), dy, 0);
  } else if constexpr (op == real) {
    return dy;
  } else if constexpr (op == imag) {
    using Element = typename OperandElement<T>::type;
    return ops::multiply(as_gradient<T>(dy), Element(0, 1));
  } else if constexpr (op == conj) {
    return conjugate(dy);
  } else {
    static_assert(op == clamp);
    const auto limits = std::tuple(numbers...);
    const auto& value = x.value();
    const auto is_inside = ops::logical_and(ops::greater_equal(value, std::get<0>(limits)),
                                            ops::less_equal(value, std::get<1>(limits)));
    return ops::where(is_inside, dy, 0);
  }
}

/// Returns the logarithm of a number; 0 of 0.
template <class N>
N log_or_zero(const N& number) {
  return number == N(0) ? N(0) : N(Kokkos::log(number));
}

/// Returns the gradient of a^b with respect to a.
template <class G, class A, class B>
auto power_adjoint_of_base(const G& dy, const A& a, const B& b) {
  if constexpr (is_number_v<B>) {
    if (b == B(0)) return G(ops::multiply(zeros_like(dy), 0));
    return G(ops::multiply(dy, conjugate(ops::multiply(ops::pow(a, b - B(1)), b))));
  } else {
    const auto slope = ops::multiply(b, ops::pow(a, ops::subtract(b, 1)));
    return ops::multiply(dy, conjugate(ops::where(ops::equal_to(b, 0), 0, slope)));
  }
}

/// Returns the gradient of y = a^b with respect to b.
template <class G, class A, class Y>
auto power_adjoint_of_exponent(const G& dy, const A& a, const Y& y) {
  if constexpr (is_number_v<A>)
    return ops::multiply(dy, conjugate(ops::multiply(y, log_or_zero(a))));
  else
    return ops::multiply(
        dy, conjugate(ops::where(ops::equal_to(a, 0), 0, ops::multiply(y, ops::log(a)))));
}

/// Returns the gradient with respect to operand k of a function of a and b with the value y, before it is
/// summed up over stretched dims. All three are Inputs.
template <ElementwiseOp op, std::size_t k, class G, class A, class B, class Y>
auto binary_adjoint(const G& dy, const A& a, const B& b, const Y& y) {
  using enum ElementwiseOp;
  if constexpr (op == add || (op == subtract && k == 0)) {
    return dy;
  } else if constexpr (op == subtract) {
    return ops::negate(dy);
  } else if constexpr (op == multiply && k == 0) {
    return ops::multiply(dy, conjugate(b.value()));
  } else if constexpr (op == multiply) {
    return ops::multiply(dy, conjugate(a.value()));
  } else if constexpr (op == divide && k == 0) {
    return ops::divide(dy, conjugate(b.value()));
  } else if constexpr (op == divide) {
    return ops::negate(ops::multiply(ops::divide(dy, conjugate(b.value())), conjugate(y.value())));
  } else if constexpr (op == power && k == 0) {
    return power_adjoint_of_base(dy, a.value(), b.value());
  } else if constexpr (op == power) {
    return power_adjoint_of_exponent(dy, a.value(), y.value());
  } else {
    static_assert(op == minimum || op == maximum);
    const auto half = ops::where(ops::equal_to(a.value(), b.value()), ops::multiply(dy, 0.5), 0);
    constexpr bool takes_less = op == minimum;
    if constexpr ((k == 0) == takes_less)
      return ops::where(ops::less(a.value(), b.value()), dy, half);
    else
      return ops::where(ops::less(b.value(), a.value()), dy, half);
  }
}

/// Records an operator of one tensor, and of numbers.
template <ElementwiseOp op, class X, class... Numbers>
auto record_unary(const ElementwiseOperator<op>& function, const Execution& execution, const X& x,
                  const Numbers&... numbers) {
  constexpr auto name = traits_of(op).function.text;
  const auto y = function(execution, value_of(x), numbers...);
  const auto tape = tape_of(x);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, name, x, keep_if(needs_operand<op>));
  const auto output = input_of(*tape, name, y, keep_if(needs_result<op>));
  return recorded(tape, y, [input, output, numbers...](const auto& dy) {
    input.add(unary_adjoint<op, value_of_t<X>>(dy, input, output, numbers...));
  });
}

/// Records an operator of two operands.
template <ElementwiseOp op, class A, class B>
auto record_binary(const ElementwiseOperator<op>& function, const Execution& execution, const A& a,
                   const B& b) {
  constexpr auto name = traits_of(op).function.text;
  const auto y = function(execution, value_of(a), value_of(b));
  const auto tape = tape_of(a, b);
  if (!tape) return unrecorded(y);
  using enum ElementwiseOp;
  constexpr bool needs_both = op == power || op == minimum || op == maximum;
  constexpr bool needs_result = op == divide || op == power;
  const bool needs_a = needs_both || (op == multiply && is_wanted(b));
  const bool needs_b = needs_both || (op == multiply && is_wanted(a)) || op == divide;
  const auto first = input_of(*tape, name, a, keep_if(needs_a));
  const auto second = input_of(*tape, name, b, keep_if(needs_b));
  const auto output = input_of(*tape, name, y, keep_if(needs_result && is_wanted(b)));
  return recorded(tape, y, [first, second, output](const auto& dy) {
    if constexpr (is_variable_v<A>)
      if (first.is_wanted())
        first.add(unstretched(first.form(), binary_adjoint<op, 0>(dy, first, second, output)));
    if constexpr (is_variable_v<B>)
      if (second.is_wanted())
        second.add(unstretched(second.form(), binary_adjoint<op, 1>(dy, first, second, output)));
  });
}

/// Records a bilinear function of two operands, of which each is needed for the gradient of the other one.
/// of_first(form, dy, b) and of_second(form, dy, a) return the gradients with respect to the operands a
/// and b of these forms. Partial operands are reduced first.
template <class F, class A, class B, class OfFirst, class OfSecond>
auto record_bilinear(const char* name, const F& function, const Execution& execution, const A& x,
                     const B& y, const OfFirst& of_first, const OfSecond& of_second) {
  const auto a = reduced_operand(x, name);
  const auto b = reduced_operand(y, name);
  const auto result = function(execution, value_of(a), value_of(b));
  const auto tape = tape_of(a, b);
  if (!tape) return unrecorded(result);
  const auto first = input_of(*tape, name, a, keep_if(is_wanted(b)));
  const auto second = input_of(*tape, name, b, keep_if(is_wanted(a)));
  return recorded(tape, result, [=](const auto& dy) {
    if constexpr (is_variable_v<A>)
      if (first.is_wanted()) first.add(of_first(first.form(), dy, second.value()));
    if constexpr (is_variable_v<B>)
      if (second.is_wanted()) second.add(of_second(second.form(), dy, first.value()));
  });
}

/// Records where(condition, a, b).
template <class C, class A, class B>
auto record_where(const Execution& execution, const C& condition, const A& a, const B& b) {
  static_assert(!is_variable_v<C>,
                "where takes a condition that is no variable: it has no derivative");
  const auto y = ops::where(execution, condition, value_of(a), value_of(b));
  const auto tape = tape_of(a, b);
  if (!tape) return unrecorded(y);
  const auto chosen = input_of(*tape, "where", condition);
  const auto first = input_of(*tape, "where", a, Keep::nothing);
  const auto second = input_of(*tape, "where", b, Keep::nothing);
  return recorded(tape, y, [chosen, first, second](const auto& dy) {
    if constexpr (is_variable_v<A>)
      if (first.is_wanted())
        first.add(unstretched(first.form(), ops::where(chosen.value(), dy, 0)));
    if constexpr (is_variable_v<B>)
      if (second.is_wanted())
        second.add(unstretched(second.form(), ops::where(chosen.value(), 0, dy)));
  });
}

/// Runs an elementwise operator on operands of which one is a variable.
template <ElementwiseOp op, class... A>
requires HasVariable<A...>
auto apply_op(const ElementwiseOperator<op>& function, const OperatorContext& context,
              const A&... operands) {
  const auto& execution = context.execution;
  constexpr auto name = traits_of(op).function.text;
  if constexpr (is_comparison<op>)
    return function(execution, value_of(operands)...);
  else if constexpr (op == ElementwiseOp::where)
    return record_where(execution, operands...);
  else if constexpr (passes_partial<op, A...>() && traits_of(op).tensors == 2)
    return record_binary(function, execution, operands...);
  else if constexpr (traits_of(op).tensors == 2)
    return record_binary(function, execution, reduced_operand(operands, name)...);
  else if constexpr (passes_partial<op, A...>())
    return record_unary(function, execution, operands...);
  else
    return record_unary(function, execution, reduced_operand(operands, name)...);
}

}  // namespace detail

}  // namespace tessera
