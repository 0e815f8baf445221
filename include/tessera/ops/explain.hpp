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

/// Returns the OperandRef of a spec, a tensor or a number.
template <class T>
OperandRef explained_operand(const DTensorSpec& spec) {
  OperandRef result;
  result.spec = &spec;
  result.array.type = element_type<T>();
  return result;
}
template <class T, class V>
OperandRef explained_operand(const DTensor<V>& tensor) {
  return operand_ref<T>(tensor);
}
template <class T, class N>
requires is_number_v<N> OperandRef explained_operand(const N& number) {
  return operand_ref<N>(number);
}

/// Returns what an elementwise call would do.
template <class T, ElementwiseOp op, class... A>
std::string explain_call(const ElementwiseOperator<op>&, const A&... operands) {
  const auto& info = elementwise_info(op);
  const std::array refs{explained_operand<T>(operands)...};
  constexpr bool is_boolean = traits_of(op).result == ResultKind::boolean;
  return explain({info, refs, is_boolean ? element_type<bool>() : element_type<T>()});
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
  const auto& info = reduction_info(op);
  const std::array refs{explained_operand<T>(operand)};
  const auto dims =
      named(info.function.text, [&] { return dims_over(over, refs[0].spec->shape().size()); });
  constexpr bool keeps_dims = !std::is_integral_v<D> && dropped_dims<D> == 0;
  return explain({info, refs, element_type<reduced_element_t<op, T>>(), dims, keeps_dims});
}

/// Returns what dot() or vdot() would do.
template <class T, ReductionOp op, class A, class B>
std::string explain_call(const DotOperator<op>&, const A& a, const B& b) {
  const std::array refs{explained_operand<T>(a), explained_operand<T>(b)};
  const auto dims = dims_over(AllDims(), refs[0].spec->shape().size());
  return explain({reduction_info(op), refs, element_type<reduced_element_t<op, T>>(), dims});
}

}  // namespace detail

/// Returns, in one line, what an operator would do with these arguments: placements of the result,
/// which operands are sliced, reduced or redistributed, and the bytes that the busiest rank
/// receives; or the error that the call would throw. The operator is an elementwise one, a reduction,
/// dot or vdot. Operands are tensors, numbers, or specs, whose elements are taken to be of type T.
/// Local.
///
/// Example: explain(ops::add, x, y); explain(ops::sum, x, Dims{0});
/// explain<float>(ops::exp, x.spec()).
template <class T = double, class Op, class... A>
std::string explain(const Op& op, const A&... arguments) {
  return detail::explain_call<T>(op, arguments...);
}

}  // namespace tessera
