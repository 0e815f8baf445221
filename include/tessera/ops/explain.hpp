// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tessera/ops/cross_entropy.hpp>
#include <tessera/ops/cumsum.hpp>
#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/factories.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/ops/matrix.hpp>
#include <tessera/ops/operator.hpp>
#include <tessera/ops/reductions.hpp>
#include <tessera/ops/softmax.hpp>
#include <tessera/ops/take.hpp>

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

/// Returns what an operator over one dim would do, whose result has elements of type R.
template <class T, class R, class A>
std::string explain_over_dim(const OperatorInfo& info, const A& operand, int dim) {
  using Element = typename ExplainedElement<T, A>::type;
  const std::array refs{explained_operand<Element>(operand)};
  const auto dims = named(info.function.text, [&] {
    return reduced_dims(std::array{dim}, false, refs[0].spec->shape().size()).dims;
  });
  return explain({info, refs, element_type<R>(), dims});
}
template <class T, SoftmaxOp op, class A>
std::string explain_call(const SoftmaxOperator<op>&, const A& operand, int dim) {
  return explain_over_dim<T, typename ExplainedElement<T, A>::type>(softmax_info(op), operand, dim);
}
template <class T, class A>
std::string explain_call(const CumsumOperator&, const A& operand, int dim) {
  using Element = typename ExplainedElement<T, A>::type;
  return explain_over_dim<T, reduced_element_t<ReductionOp::sum, Element>>(cumsum_info(), operand,
                                                                           dim);
}

/// Returns what matmul() would do.
template <class T, class A, class B>
std::string explain_call(const MatmulOperator&, const A& a, const B& b) {
  using Element = typename ExplainedElement<T, A>::type;
  const std::array refs{explained_operand<Element>(a),
                        explained_operand<typename ExplainedElement<T, B>::type>(b)};
  return explain(
      {matmul_info(), refs, element_type<reduced_element_t<ReductionOp::dot, Element>>()});
}

/// Returns what take() would do.
template <class T, class A, class B>
std::string explain_call(const TakeOperator&, const A& table, const B& indices, int dim = 0) {
  using Element = typename ExplainedElement<T, A>::type;
  const std::array refs{
      explained_operand<Element>(table),
      explained_operand<typename ExplainedElement<std::int64_t, B>::type>(indices)};
  const auto dims = named(take_info().function.text, [&] {
    return reduced_dims(std::array{dim}, false, refs[0].spec->shape().size()).dims;
  });
  return explain({take_info(), refs, element_type<Element>(), dims});
}

/// Returns what diag(), tril() or triu() would do.
template <class T, MatrixOp op, class A>
std::string explain_call(const MatrixOperator<op>&, const A& operand, std::int64_t offset = 0) {
  using Element = typename ExplainedElement<T, A>::type;
  const std::array refs{explained_operand<Element>(operand)};
  const std::array attributes{OperatorAttribute{"offset", offset}};
  return explain({matrix_info(op), refs, element_type<Element>(), {}, false, attributes});
}
template <class T, class A>
std::string explain_call(const TraceOperator&, const A& operand) {
  return explain_call<T>(MatrixOperator<MatrixOp::diag>(), operand) +
         "; then sums it up; a Partial of bool or of integers of less than 64 bits is reduced "
         "first";
}
template <class T, class A, class B>
std::string explain_call(const OuterOperator&, const A& x, const B& y) {
  using Element = typename CommonElement<typename ExplainedElement<T, A>::type,
                                         typename ExplainedElement<T, B>::type>::type;
  const std::array refs{explained_operand<typename ExplainedElement<T, A>::type>(x),
                        explained_operand<typename ExplainedElement<T, B>::type>(y)};
  return explain({matrix_info(MatrixOp::outer), refs, element_type<Element>()});
}

/// Returns what cross_entropies() would do: log_softmax(), and how it picks the logits of the targets.
template <class T, class A, class B>
std::string explain_call(const CrossEntropiesOperator&, const A& logits, const B& targets) {
  using Element = typename ExplainedElement<T, A>::type;
  const auto& info = cross_entropy_info();
  const auto spec = *explained_operand<Element>(logits).spec;
  require_may_reduce(spec, info.function.text);
  const auto whole = like_spec(spec);
  const std::array refs{
      explained_operand<Element>(whole),
      explained_operand<typename ExplainedElement<std::int64_t, B>::type>(targets)};
  return (spec.placements().has_partial() ? "reduces operand 0; then " : "") +
         explain_over_dim<Element, Element>(softmax_info(SoftmaxOp::log_softmax), whole, 1) +
         "; then " + explain({info, refs, element_type<Element>(), {1}});
}
template <class T, class A, class B>
std::string explain_call(const CrossEntropyOperator&, const A& logits, const B& targets) {
  return explain_call<T>(CrossEntropiesOperator(), logits, targets) + "; then the mean of the rows";
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
