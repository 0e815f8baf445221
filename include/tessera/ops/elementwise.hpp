// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/detail/on_views.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

/// An elementwise operator computes on DTensors as on one array: it takes tensors and returns a
/// tensor.
///
/// Operands are tensors and numbers, at least one tensor. Shapes broadcast as in NumPy: they are
/// aligned at their last dims, and an extent of 1 stretches. Element types are equal, or
/// floating-point and complex, which meet in the common type; a number takes the type of the
/// tensor.
///
/// Result:     a tensor of View type V if all tensors are of type V and the element type stays;
///             otherwise a View of the result's element type and number of dims, in the layout of
///             the first tensor with as many dims. Its placements follow from a rule: operands that
///             are split alike, or replicated, stay where they are; Partial ones pass where the
///             operator is linear, and are reduced first elsewhere. explain() tells which rule
///             holds.
/// Collective: where a Partial operand is reduced, or operands move by RedistributionScope;
///             otherwise local, without a fence: the work is ordered on the default instance of the
///             memory space, or on the instance given first. Operands of another type than the common
///             one are copied first; on a device the call then waits for its kernel.
/// Errors:     PlacementMismatch where operands would have to move; MeshMismatch for operands on
///             different meshes; InvalidArgument for shapes that do not broadcast, and for an
///             integer that the element type cannot hold.
namespace tessera {

namespace detail {

/// Runs an elementwise operator on tensors.
template <ElementwiseOp op, class... A>
requires(has_tensor<A...> && !has_view<A...> && !has_other_tensor<A...>) auto apply_op(
    const ElementwiseOperator<op>&, const OperatorContext& context, const A&... operands) {
  return call_elementwise<op>(context, operands...);
}
/// Runs it on Views alone, as on one local array.
template <ElementwiseOp op, class... A>
requires(!has_tensor<A...> && has_view<A...> && !has_other_tensor<A...>) auto apply_op(
    const ElementwiseOperator<op>&, const OperatorContext& context, const A&... operands) {
  return call_elementwise_on_views<op>(context.execution, operands...);
}

}  // namespace detail

namespace ops {

// The function objects in this namespace are the operators. Each takes its operands, or an
// execution space instance first, and returns a tensor; result, what is collective, and errors
// stand above.
//
// Operators take real and complex numbers where nothing else is said, and bool where it is said.
//
// Integers wrap around. They are divided as in C++, and give 0 where they are divided by 0; `pow`
// of integers with a negative exponent is 0 unless the base is 1 or -1. `minimum` and `maximum`
// give NaN where an operand is NaN, as do clamp and relu; comparisons with NaN are false, but that of
// not_equal_to. Mathematical functions take floating-point and complex numbers, and give what Kokkos'
// functions give, within 4 units in the last place.

/// Returns -x.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::negate> negate;
/// Returns the absolute value; of complex numbers it is real.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::abs> abs;
/// Returns -1, 0 or 1; NaN of NaN. Of real numbers.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::sign> sign;
/// Returns x x.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::square> square;
/// Returns the square root.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::sqrt> sqrt;
/// Returns the exponential function.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::exp> exp;
/// Returns the natural logarithm.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::log> log;
/// Returns the sine.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::sin> sin;
/// Returns the cosine.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::cos> cos;
/// Returns the hyperbolic tangent.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::tanh> tanh;
/// Returns 1 / (1 + exp(-x)). Of floating-point numbers.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::sigmoid> sigmoid;
/// Returns the larger one of x and 0. Of real numbers.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::relu> relu;
/// Returns the real part; of real numbers, x.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::real> real;
/// Returns the imaginary part; of real numbers, 0.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::imag> imag;
/// Returns the complex conjugate; of real numbers, x.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::conj> conj;
/// Returns whether an element is false. Of bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::logical_not> logical_not;
/// Returns x within limits: clamp(x, least, most); `most` if the limits cross. Of real numbers; the
/// limits are numbers.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::clamp> clamp;
/// Returns a + b; of bool, a or b.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::add> add;
/// Returns a - b.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::subtract> subtract;
/// Returns a b; of bool, a and b.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::multiply> multiply;
/// Returns a / b.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::divide> divide;
/// Returns a to the power of b.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::power> pow;
/// Returns the smaller one of a and b. Of real numbers.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::minimum> minimum;
/// Returns the larger one of a and b. Of real numbers.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::maximum> maximum;
/// Returns whether a equals b, as bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::equal_to> equal_to;
/// Returns whether a differs from b, as bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::not_equal_to> not_equal_to;
/// Returns whether a < b, as bool. Of real numbers, as the next three.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::less> less;
/// Returns whether a <= b, as bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::less_equal> less_equal;
/// Returns whether a > b, as bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::greater> greater;
/// Returns whether a >= b, as bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::greater_equal> greater_equal;
/// Returns whether a and b are true. Of bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::logical_and> logical_and;
/// Returns whether a or b is true. Of bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::logical_or> logical_or;
/// Returns a where the condition is true, else b: where(condition, a, b). The condition is a tensor
/// of bool, or a bool.
inline constexpr detail::ElementwiseOperator<detail::ElementwiseOp::where> where;

}  // namespace ops

namespace detail {

template <class A, class B>
concept InfixTypes = (is_tensor_operand_v<A> || is_tensor_operand_v<B>)&&(
    Operand<A> || Kokkos::is_view_v<A>)&&(Operand<B> || Kokkos::is_view_v<B>);
template <class A, class B>
concept InfixOperands = InfixTypes<std::remove_cvref_t<A>, std::remove_cvref_t<B>>;

}  // namespace detail

// Infix operators are the function objects above. One operand is a tensor, the other one a tensor
// or a number. There is no operator==: ops::equal_to compares elements, equal() whole tensors.

/// Returns ops::add(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator+(A&& a, B&& b) {
  return ops::add(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::subtract(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator-(A&& a, B&& b) {
  return ops::subtract(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::multiply(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator*(A&& a, B&& b) {
  return ops::multiply(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::divide(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator/(A&& a, B&& b) {
  return ops::divide(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::less(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator<(A&& a, B&& b) {
  return ops::less(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::less_equal(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator<=(A&& a, B&& b) {
  return ops::less_equal(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::greater(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator>(A&& a, B&& b) {
  return ops::greater(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::greater_equal(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator>=(A&& a, B&& b) {
  return ops::greater_equal(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::logical_and(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator&&(A&& a, B&& b) {
  return ops::logical_and(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::logical_or(a, b).
template <class A, class B>
requires detail::InfixOperands<A, B>
auto operator||(A&& a, B&& b) {
  return ops::logical_or(std::forward<A>(a), std::forward<B>(b));
}
/// Returns ops::negate(a).
template <class A>
requires is_tensor_operand_v<std::remove_cvref_t<A>>
auto operator-(A&& a) {
  return ops::negate(std::forward<A>(a));
}
/// Returns ops::logical_not(a).
template <class A>
requires is_tensor_operand_v<std::remove_cvref_t<A>>
auto operator!(A&& a) {
  return ops::logical_not(std::forward<A>(a));
}

/// Adds `other` to the tensor, in its memory, and returns the tensor.
///
/// Collective: as ops::add. Errors: those of the elementwise operators; PlacementMismatch also
///             where the result of ops::add would have another shape or other placements than
///             `tensor`; InvalidArgument for a tensor whose own elements share memory (a stride of 0).
template <LocalView V, Operand B>
const DTensor<V>& operator+=(const DTensor<V>& tensor, const B& other) {
  detail::change_elementwise<detail::ElementwiseOp::add>(Execution(), tensor, other);
  return tensor;
}
/// Changes the tensor to tensor - `other`, in its memory. See operator+=().
template <LocalView V, Operand B>
const DTensor<V>& operator-=(const DTensor<V>& tensor, const B& other) {
  detail::change_elementwise<detail::ElementwiseOp::subtract>(Execution(), tensor, other);
  return tensor;
}
/// Changes the tensor to its product with `other`, in its memory. See operator+=().
template <LocalView V, Operand B>
const DTensor<V>& operator*=(const DTensor<V>& tensor, const B& other) {
  detail::change_elementwise<detail::ElementwiseOp::multiply>(Execution(), tensor, other);
  return tensor;
}
/// Changes the tensor to tensor / `other`, in its memory. See operator+=().
template <LocalView V, Operand B>
const DTensor<V>& operator/=(const DTensor<V>& tensor, const B& other) {
  detail::change_elementwise<detail::ElementwiseOp::divide>(Execution(), tensor, other);
  return tensor;
}

/// Returns alpha x + beta y, of tensors in one kernel. The numbers take the element type of the tensors.
///
/// Result, Collective, Errors: those of the elementwise operators.
template <Operand N, class X, Operand M, class Y>
requires(is_tensor_operand_v<X>&& is_tensor_operand_v<Y>) auto axpby(const N& alpha, const X& x,
                                                                     const M& beta, const Y& y) {
  return axpby(Execution(), alpha, x, beta, y);
}
/// Orders the work on `exec`.
template <Operand N, class X, Operand M, class Y>
requires(is_tensor_operand_v<X>&& is_tensor_operand_v<Y>) auto axpby(const Execution& exec,
                                                                     const N& alpha, const X& x,
                                                                     const M& beta, const Y& y) {
  if constexpr (is_dtensor_v<X> && is_dtensor_v<Y>)
    return detail::call_elementwise<detail::ElementwiseOp::axpby>({exec}, x, y, alpha, beta);
  else
    return ops::add(exec, ops::multiply(exec, x, alpha), ops::multiply(exec, y, beta));
}

}  // namespace tessera
