// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/detail/on_views.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

/// Elementwise operators compute on DTensors as on one array.
///
/// Operands are tensors and numbers, at least one tensor. Shapes broadcast as in NumPy: they are aligned
/// at their last dims, and an extent of 1 stretches. Element types are equal, or floating-point and
/// complex, which meet in the common type; a number takes the type of the tensor.
///
/// Result:     has View type V if all tensors have it and the element type stays, else a View of the
///             result's element type and number of dims in the layout of the first tensor. Its
///             placements follow from a rule: operands that are split alike, or replicated, stay where
///             they are; Partial ones pass where the operator is linear, and are reduced first
///             elsewhere. See explain().
/// Collective: where a Partial operand is reduced, or operands move by RedistributionScope; otherwise
///             local, without a fence: work is ordered on the default instance of the memory space, or
///             on the instance given first.
/// Errors:     PlacementMismatch where operands would have to move; MeshMismatch for operands on
///             different meshes; InvalidArgument for shapes that do not broadcast.
namespace tessera {

namespace detail {

/// Runs an elementwise operator on tensors.
template <ElementwiseOp op, class... A>
requires(has_tensor<A...> && !has_view<A...> &&
         !has_other_tensor<A...>) auto apply_op(const ElementwiseOperator<op>&,
                                                const Execution& execution, const A&... operands) {
  return call_elementwise<op>(execution, operands...);
}
/// Runs it on Views alone, as on one local array.
template <ElementwiseOp op, class... A>
requires(!has_tensor<A...> && has_view<A...> &&
         !has_other_tensor<A...>) auto apply_op(const ElementwiseOperator<op>&,
                                                const Execution& execution, const A&... operands) {
  return call_elementwise_on_views<op>(execution, operands...);
}
template <ElementwiseOp op, class... A>
requires(has_tensor<A...>&& has_view<A...>) auto apply_op(const ElementwiseOperator<op>&,
                                                          const Execution&, const A&... operands) {
  return refuse_view(operands...);
}

}  // namespace detail

namespace ops {

/// These function objects are the operators. Each takes its operands, or an execution space instance
/// first. `where(condition, a, b)` takes a where the bool tensor is true; `clamp(x, least, most)` takes
/// numbers as limits.
///
/// Integers wrap around, are divided as in C++, and give 0 where they are divided by 0; `pow` of
/// integers with a negative exponent is 0 unless the base is 1 or -1. `minimum` and `maximum` give NaN
/// where an operand is NaN. Of bool, + is or, * is and. `abs`, `real` and `imag` of complex numbers are
/// real. Results of mathematical functions are those of Kokkos' functions.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::negate> negate;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::abs> abs;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::sign> sign;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::square> square;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::sqrt> sqrt;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::exp> exp;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::log> log;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::sin> sin;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::cos> cos;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::tanh> tanh;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::sigmoid> sigmoid;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::relu> relu;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::real> real;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::imag> imag;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::conj> conj;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::logical_not> logical_not;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::clamp> clamp;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::add> add;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::subtract> subtract;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::multiply> multiply;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::divide> divide;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::power> pow;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::minimum> minimum;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::maximum> maximum;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::equal_to> equal_to;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::not_equal_to> not_equal_to;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::less> less;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::less_equal> less_equal;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::greater> greater;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::greater_equal> greater_equal;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::logical_and> logical_and;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::logical_or> logical_or;
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::where> where;

}  // namespace ops

namespace detail {

template <class A, class B>
concept InfixOperands = (is_tensor_operand_v<A> || is_tensor_operand_v<B>)&&(
    Operand<A> || Kokkos::is_view_v<A>)&&(Operand<B> || Kokkos::is_view_v<B>);

}  // namespace detail

/// Adds two operands elementwise, as ops::add. The other infix operators stand for ops::subtract,
/// ops::multiply, ops::divide, ops::less, ops::less_equal, ops::greater, ops::greater_equal,
/// ops::logical_and, ops::logical_or, ops::negate and ops::logical_not.
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator+(const A& a, const B& b) {
  return ops::add(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator-(const A& a, const B& b) {
  return ops::subtract(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator*(const A& a, const B& b) {
  return ops::multiply(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator/(const A& a, const B& b) {
  return ops::divide(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator<(const A& a, const B& b) {
  return ops::less(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator<=(const A& a, const B& b) {
  return ops::less_equal(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator>(const A& a, const B& b) {
  return ops::greater(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator>=(const A& a, const B& b) {
  return ops::greater_equal(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator&&(const A& a, const B& b) {
  return ops::logical_and(a, b);
}
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator||(const A& a, const B& b) {
  return ops::logical_or(a, b);
}
template <class A>
requires is_tensor_operand_v<A>
auto operator-(const A& a) {
  return ops::negate(a);
}
template <class A>
requires is_tensor_operand_v<A>
auto operator!(const A& a) {
  return ops::logical_not(a);
}

/// Adds `other` to the tensor, in its memory; -=, *= and /= likewise. No tensor is made.
///
/// Errors: PlacementMismatch also where the result would have other placements than `tensor`; those of
/// the elementwise operators.
template <LocalView V, Operand B>
const DTensor<V>& operator+=(const DTensor<V>& tensor, const B& other) {
  detail::change_elementwise<detail::ElementwiseOp::add>(Execution(), tensor, other);
  return tensor;
}
template <LocalView V, Operand B>
const DTensor<V>& operator-=(const DTensor<V>& tensor, const B& other) {
  detail::change_elementwise<detail::ElementwiseOp::subtract>(Execution(), tensor, other);
  return tensor;
}
template <LocalView V, Operand B>
const DTensor<V>& operator*=(const DTensor<V>& tensor, const B& other) {
  detail::change_elementwise<detail::ElementwiseOp::multiply>(Execution(), tensor, other);
  return tensor;
}
template <LocalView V, Operand B>
const DTensor<V>& operator/=(const DTensor<V>& tensor, const B& other) {
  detail::change_elementwise<detail::ElementwiseOp::divide>(Execution(), tensor, other);
  return tensor;
}

/// Returns alpha x + beta y, in one kernel. The numbers take the element type of the tensors.
///
/// Errors: those of the elementwise operators.
template <Operand N, class X, Operand M, class Y>
requires(is_dtensor_v<X>&& is_dtensor_v<Y>) auto axpby(const N& alpha, const X& x, const M& beta,
                                                       const Y& y) {
  return detail::call_elementwise<detail::ElementwiseOp::axpby>(Execution(), x, y, alpha, beta);
}
/// Orders the work on `exec`.
template <Operand N, class X, Operand M, class Y>
requires(is_dtensor_v<X>&& is_dtensor_v<Y>) auto axpby(const Execution& exec, const N& alpha,
                                                       const X& x, const M& beta, const Y& y) {
  return detail::call_elementwise<detail::ElementwiseOp::axpby>(exec, x, y, alpha, beta);
}

}  // namespace tessera
