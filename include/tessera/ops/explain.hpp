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

}  // namespace detail

/// Returns, in one line, what an elementwise operator would do with these operands: placements of
/// the result, which operands are sliced, reduced or redistributed, and the bytes that the busiest
/// rank receives; or the error that the call would throw. Operands are tensors, numbers, or specs,
/// whose elements are taken to be of type T. Local.
///
/// Example: explain(ops::add, x, y), explain<float>(ops::add, x.spec(), y.spec()).
template <class T = double, detail::ElementwiseOp op, class... A>
std::string explain(const detail::ElementwiseOperator<op>&, const A&... operands) {
  const auto& info = detail::elementwise_info(op);
  const std::array refs{detail::explained_operand<T>(operands)...};
  constexpr bool is_boolean = detail::traits_of(op).result == detail::ResultKind::boolean;
  return detail::explain({info, refs, is_boolean ? element_type<bool>() : element_type<T>()});
}

/// Returns what a reduction of this operand would do, a tensor or a spec.
///
/// Example: explain(ops::sum, x, Dims{0}).
template <class T = double, detail::ReductionOp op, class A, class D = detail::AllDims>
std::string explain(const detail::ReductionOperator<op>&, const A& operand, const D& over = {}) {
  const auto& info = detail::reduction_info(op);
  const std::array refs{detail::explained_operand<T>(operand)};
  const auto tensor_dims = refs[0].spec->shape().size();
  const auto dims = detail::named(info.function.text, [&] {
    if constexpr (std::is_same_v<D, detail::AllDims>) {
      detail::ReducedDims all;
      for (std::size_t d = 0; d < tensor_dims; ++d)
        all.dims.push_back(static_cast<std::int64_t>(d));
      return all;
    } else if constexpr (std::is_integral_v<D>) {
      return detail::reduced_dims(std::array{static_cast<int>(over)}, false, tensor_dims);
    } else {
      return detail::reduced_dims(over.dims, detail::dropped_dims<D> == 0, tensor_dims);
    }
  });
  return detail::explain(
      {info, refs, element_type<detail::reduced_element_t<op, T>>(), dims.dims, dims.keeps});
}

/// Returns what dot() or vdot() of two operands would do.
template <class T = double, detail::ReductionOp op, class A, class B>
std::string explain(const detail::DotOperator<op>&, const A& a, const B& b) {
  const std::array refs{detail::explained_operand<T>(a), detail::explained_operand<T>(b)};
  Extents dims;
  for (std::size_t d = 0; d < refs[0].spec->shape().size(); ++d)
    dims.push_back(static_cast<std::int64_t>(d));
  return detail::explain(
      {detail::reduction_info(op), refs, element_type<detail::reduced_element_t<op, T>>(), dims});
}

}  // namespace tessera
