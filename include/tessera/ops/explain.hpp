// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <type_traits>

#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/factories.hpp>
#include <tessera/ops/operator.hpp>
#include <tessera/ops/reductions.hpp>

namespace tessera {

namespace detail {

/// Describes what a call would do: its choice and its cost. `then` says what follows if the result is
/// Partial. Errors: those of the call.
std::string explain(const CallRequest& request, const char* then = "");

/// Names the element type of an argument: T for a spec, void for a number.
template <class T, class A>
struct ExplainedElement : OperandElement<A> {};
template <class T>
struct ExplainedElement<T, DTensorSpec> {
  using type = T;
};

/// Returns the OperandRef of a spec, a tensor or a number, where elements are of type T.
template <class T, class A>
OperandRef explained_operand(const A& argument) {
  if constexpr (std::is_same_v<A, DTensorSpec>) {
    OperandRef result;
    result.spec = &argument;
    result.array.type = element_type<T>();
    return result;
  } else {
    return operand_ref<T>(argument);
  }
}

/// Returns what an elementwise call would do.
template <class T, ElementwiseOp op, class First, class... Rest>
std::string explain_call(const ElementwiseOperator<op>&, const First& first, const Rest&... rest) {
  using Whole = typename ExplainedElement<T, First>::type;
  using Leading = std::conditional_t<op == ElementwiseOp::where, void, Whole>;
  using Common = typename CommonElement<Leading, typename ExplainedElement<T, Rest>::type...>::type;
  static_assert(!std::is_void_v<Common>, "explain takes at least one tensor or spec");
  using Condition = std::conditional_t<op == ElementwiseOp::where, bool, Common>;
  const auto& info = elementwise_info(op);
  const std::array refs{explained_operand<Condition>(first), explained_operand<Common>(rest)...};
  return explain({info, refs, element_type<elementwise_result_t<op, Common>>()});
}

/// Returns what a reduction would do, and what it does then if its result is Partial.
template <class T, ReductionOp op, class A, class D>
std::string explain_reduction(const A& operand, const D& over, const char* then = "") {
  using Element = typename ExplainedElement<T, A>::type;
  const auto& info = reduction_info(op);
  const std::array refs{explained_operand<Element>(operand)};
  const auto& shape = refs[0].spec->shape();
  const auto dims = named(info.function.text, [&] {
    const auto result = reduced_dims_of(over, shape.size());
    require_elements(op, shape, result);
    return result;
  });
  const auto type = element_type<reduced_element_t<op, Element>>();
  return explain({info, refs, type, dims.dims, dims.keeps}, then);
}
template <class T, ReductionOp op, class A, class D = AllDims>
std::string explain_call(const ReductionOperator<op>&, const A& operand, const D& over = {}) {
  return explain_reduction<T, op>(operand, over);
}

/// Returns what norm() would do.
template <class T, class A, class D = AllDims>
std::string explain_call(const NormOperator&, const A& operand, Norm norm = Norm::two,
                         const D& over = {}) {
  if (norm == Norm::one) return explain_reduction<T, ReductionOp::norm_one>(operand, over);
  if (norm == Norm::inf) return explain_reduction<T, ReductionOp::norm_inf>(operand, over);
  return explain_reduction<T, ReductionOp::sum_of_squares>(operand, over,
                                                           "reduces the sums of squares");
}

/// Returns what dot() or vdot() would do.
template <class T, ReductionOp op, class A, class B>
std::string explain_call(const DotOperator<op>&, const A& a, const B& b) {
  using Element = typename ExplainedElement<T, A>::type;
  const std::array refs{explained_operand<Element>(a), explained_operand<Element>(b)};
  const auto dims = reduced_dims_of(AllDims(), refs[0].spec->shape().size()).dims;
  return explain({reduction_info(op), refs, element_type<reduced_element_t<op, Element>>(), dims});
}

/// Returns what var() and std() would do: what the mean takes, and what follows.
template <class T, class A, class D>
std::string explain_variance(const A& operand, const D& over, const char* function,
                             const char* then) {
  using Element = typename ExplainedElement<T, A>::type;
  const auto spec = *explained_operand<Element>(operand).spec;
  require_may_reduce(spec, function);
  return (spec.placements().has_partial() ? "reduces operand 0; then " : "") +
         explain_reduction<Element, ReductionOp::mean>(like_spec(spec), over, then);
}
template <class T, class A, class D = AllDims>
std::string explain_call(const VarianceOperator&, const A& operand, const D& over = {},
                         double /*correction*/ = 1) {
  return explain_variance<T>(
      operand, over, "var",
      "reduces the means; the sums of squared distances from them are Partial");
}
template <class T, class A, class D = AllDims>
std::string explain_call(const DeviationOperator&, const A& operand, const D& over = {},
                         double /*correction*/ = 1) {
  return explain_variance<T>(operand, over, "std",
                             "reduces the means, then the sums of squared distances from them");
}

/// Returns the OperandRef of an argument of an operator of a program.
template <class T, class A>
OperandRef explained_operand_of_any_type(const A& argument) {
  if constexpr (std::is_same_v<A, DTensorSpec>)
    return explained_operand<T>(argument);
  else
    return operand_of_any_type(argument);
}

/// Returns what an operator of a program would do. Where an argument is a spec, which has no View, the
/// result has elements of type T.
template <class T, UserOperator Op, class... A>
std::string explain_call(const Op& op, const A&... arguments) {
  const std::array refs{explained_operand_of_any_type<T>(arguments)...};
  const auto attributes = attributes_of(op);
  auto type = element_type<T>();
  if constexpr (!(std::is_same_v<A, DTensorSpec> || ...))
    type = element_type<std::remove_const_t<typename local_result_t<Op, A...>::value_type>>();
  return explain({user_info<Op>, refs, type, {}, false, attributes});
}

}  // namespace detail

/// Returns, in one line, what an operator would do with these arguments in the current
/// RedistributionScope: placements of the result, which operands are sliced, reduced or
/// redistributed, and the bytes that the busiest rank receives; or the error that the call would throw.
/// The operator is any in `ops` but a factory, or one of the program. Operands are tensors, numbers,
/// or specs, whose elements are taken to be of type T. Local.
///
/// Example: explain(ops::add, x, y)
template <class T = double, class Op, class... A>
std::string explain(const Op& op, const A&... arguments) {
  try {
    return detail::explain_call<T>(op, arguments...);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tessera
