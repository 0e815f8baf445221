// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <type_traits>

#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/reductions.hpp>

namespace tessera {

namespace detail {

/// Describes what a call would do: its choice and its cost, or why it throws.
std::string explain(const CallRequest& request);

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

inline Extents dims_over(const AllDims&, std::size_t tensor_dims) {
  Extents all;
  for (std::size_t d = 0; d < tensor_dims; ++d) all.push_back(static_cast<std::int64_t>(d));
  return all;
}
template <class D>
Extents dims_over(const D& over, std::size_t tensor_dims) {
  if constexpr (std::is_integral_v<D>)
    return reduced_dims(std::array{static_cast<int>(over)}, false, tensor_dims).dims;
  else
    return reduced_dims(over.dims, false, tensor_dims).dims;
}

/// Returns what a reduction would do.
template <class T, ReductionOp op, class A, class D = AllDims>
std::string explain_call(const ReductionOperator<op>&, const A& operand, const D& over = {}) {
  using Element = typename ExplainedElement<T, A>::type;
  const auto& info = reduction_info(op);
  const std::array refs{explained_operand<Element>(operand)};
  const auto dims =
      named(info.function.text, [&] { return dims_over(over, refs[0].spec->shape().size()); });
  constexpr bool keeps_dims = !std::is_integral_v<D> && dropped_dims<D> == 0;
  return explain({info, refs, element_type<reduced_element_t<op, Element>>(), dims, keeps_dims});
}

/// Returns what dot() or vdot() would do.
template <class T, ReductionOp op, class A, class B>
std::string explain_call(const DotOperator<op>&, const A& a, const B& b) {
  using Element = typename ExplainedElement<T, A>::type;
  const std::array refs{explained_operand<Element>(a), explained_operand<Element>(b)};
  const auto dims = dims_over(AllDims(), refs[0].spec->shape().size());
  return explain({reduction_info(op), refs, element_type<reduced_element_t<op, Element>>(), dims});
}

}  // namespace detail

/// Returns, in one line, what an operator would do with these arguments: placements of the result,
/// which operands are sliced, reduced or redistributed, and the bytes that the busiest rank
/// receives; or the error that the call would throw. The operator is an elementwise one, a reduction,
/// dot or vdot. Operands are tensors, numbers, or specs, whose elements are taken to be of type T.
/// Local.
///
/// Example: explain(ops::add, x, y)
template <class T = double, class Op, class... A>
std::string explain(const Op& op, const A&... arguments) {
  return detail::explain_call<T>(op, arguments...);
}

}  // namespace tessera
