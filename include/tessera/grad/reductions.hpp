// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/grad/elementwise.hpp>
#include <tessera/ops/reductions.hpp>

// Reductions of variables: they compute as on tensors and Views, and are recorded.
//
// min, max and the infinity norm share the gradient among equal elements. The gradient of the 2-norm and of std is
// 0 where they are 0. all, any, count_nonzero, argmin and argmax give plain tensors.
namespace tessera {

namespace detail {

template <ReductionOp op>
inline constexpr bool has_adjoint =
    op == ReductionOp::sum || op == ReductionOp::mean || op == ReductionOp::product ||
    op == ReductionOp::min || op == ReductionOp::max;

/// Returns the gradient of a product x_1 x_2 … with respect to its factors. Where one factor is 0, the others
/// count for it alone.
template <class X, class G, class D>
auto product_adjoint(const G& dy, const X& x, const D& over) {
  using T = typename OperandElement<X>::type;
  constexpr auto rank = operand_rank<X>;
  const auto is_zero = ops::equal_to(x, 0);
  const auto factors = ops::where(is_zero, T(1), x);
  const auto zeros = whole(Execution(), kept<rank>(ops::count_nonzero(is_zero, over), over));
  const auto others = kept<rank>(ops::product(factors, over), over);
  const auto scaled = ops::multiply(dy, conjugate(others));
  const auto is_only_zero = ops::logical_and(is_zero, ops::equal_to(zeros, 1));
  const auto without_zeros =
      ops::where(ops::equal_to(zeros, 0), ops::divide(scaled, conjugate(factors)), 0);
  return ops::where(is_only_zero, scaled, without_zeros);
}

/// Returns the gradient that equal elements share, where `is_chosen` tells which they are.
template <class T, class G, class B, class D>
auto shared_gradient(const G& dy, const B& is_chosen, const D& over) {
  const auto count = with_elements<T>(ops::count_nonzero(is_chosen, over));
  return ops::where(is_chosen, ops::divide(dy, kept<operand_rank<B>>(count, over)), 0);
}

/// Returns the gradient with respect to the operand of a reduction. `x` and `y` are Inputs.
template <ReductionOp op, class T, class G, class X, class Y, class D>
auto reduction_adjoint(const G& dy, const X& x, const Y& y, const D& over) {
  constexpr auto rank = operand_rank<T>;
  if constexpr (op == ReductionOp::sum) {
    return stretched(x.form(), kept<rank>(dy, over));
  } else if constexpr (op == ReductionOp::mean) {
    const auto count = reduced_size(x.form().shape(), reduced_dims_of(over, rank).dims);
    return stretched(x.form(), kept<rank>(ops::divide(dy, static_cast<double>(count)), over));
  } else if constexpr (op == ReductionOp::product) {
    return product_adjoint(kept<rank>(dy, over), x.value(), over);
  } else {
    const auto chosen = ops::equal_to(x.value(), kept<rank>(whole(Execution(), y.value()), over));
    return shared_gradient<typename OperandElement<T>::type>(kept<rank>(dy, over), chosen, over);
  }
}

template <ReductionOp op, class T, class D>
auto apply_op(const ReductionOperator<op>& function, const Execution& execution,
              const grad::BasicVariable<T>& variable, const D& over) {
  constexpr auto name = traits_of(op).function.text;
  if constexpr (!has_adjoint<op>) {
    return function(execution, variable.detach(), over);
  } else {
    constexpr auto keep =
        op == ReductionOp::sum || op == ReductionOp::mean ? Keep::nothing : Keep::elements;
    const auto operand = keep == Keep::nothing ? variable : reduced_operand(variable, name);
    const auto y = function(execution, operand.detach(), over);
    const auto tape = tape_of(operand);
    if (!tape) return unrecorded(y);
    const auto input = input_of(*tape, name, operand, keep);
    const auto output = input_of(*tape, name, y, keep);
    return recorded(tape, y, [input, output, over](const auto& dy) {
      input.add(reduction_adjoint<op, T>(dy, input, output, over));
    });
  }
}

/// Returns x / |x|; 0 of 0.
template <class X>
auto direction(const X& x) {
  if constexpr (ComplexNumber<typename OperandElement<X>::type>) {
    const auto size = ops::abs(x);
    return ops::where(ops::equal_to(size, 0), x, ops::divide(x, size));
  } else {
    return ops::sign(x);
  }
}

template <class T, class D>
auto apply_op(const NormOperator& function, const Execution& execution,
              const grad::BasicVariable<T>& variable, Norm norm, const D& over) {
  const auto operand = reduced_operand(variable, "norm");
  const auto y = function(execution, operand.detach(), norm, over);
  const auto tape = tape_of(operand);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, "norm", operand);
  const auto output = input_of(*tape, "norm", y);
  return recorded(tape, y, [input, output, norm, over](const auto& dy) {
    constexpr auto rank = operand_rank<T>;
    const auto& x = input.value();
    const auto& size = output.value();
    const auto slope = kept<rank>(dy, over);
    if (norm == Norm::one) return input.add(ops::multiply(direction(x), slope));
    const auto length = kept<rank>(whole(Execution(), size), over);
    if (norm == Norm::two) {
      const auto unit = ops::where(ops::equal_to(length, 0), 0, ops::divide(x, length));
      return input.add(ops::multiply(unit, slope));
    }
    const auto chosen = ops::equal_to(ops::abs(x), length);
    using Real = typename PartOf<typename OperandElement<T>::type>::type;
    input.add(ops::multiply(direction(x), shared_gradient<Real>(slope, chosen, over)));
  });
}

template <class T, class D>
auto apply_op(const VarianceOperator& function, const Execution& execution,
              const grad::BasicVariable<T>& variable, const D& over, double correction) {
  const auto operand = reduced_operand(variable, "var");
  const auto y = function(execution, operand.detach(), over, correction);
  const auto tape = tape_of(operand);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, "var", operand);
  return recorded(tape, y, [input, over, correction](const auto& dy) {
    constexpr auto rank = operand_rank<T>;
    const auto& x = input.value();
    const auto mean = kept<rank>(whole(Execution(), ops::mean(x, over)), over);
    const auto count = reduced_size(input.form().shape(), reduced_dims_of(over, rank).dims);
    const double factor = 2 / (static_cast<double>(count) - correction);
    input.add(ops::multiply(ops::subtract(x, mean), ops::multiply(kept<rank>(dy, over), factor)));
  });
}

template <class T, class D>
auto apply_op(const DeviationOperator&, const Execution& execution,
              const grad::BasicVariable<T>& variable, const D& over, double correction) {
  return ops::sqrt(execution, VarianceOperator()(execution, variable, over, correction));
}

template <ReductionOp op, class A, class B>
requires HasVariable<A, B>
auto apply_op(const DotOperator<op>& function, const Execution& execution, const A& x, const B& y) {
  constexpr bool is_conjugated = op == ReductionOp::vdot;
  return record_bilinear(
      traits_of(op).function.text, function, execution, x, y,
      [](const auto&, const auto& dz, const auto& b) {
        if constexpr (is_conjugated)
          return ops::multiply(b, conjugate(dz));
        else
          return ops::multiply(conjugate(b), dz);
      },
      [](const auto&, const auto& dz, const auto& a) {
        if constexpr (is_conjugated)
          return ops::multiply(a, dz);
        else
          return ops::multiply(conjugate(a), dz);
      });
}

}  // namespace detail
}  // namespace tessera
