// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <tessera/ops/detail/elementwise.hpp>

namespace tessera::detail {

/// Returns the shape to which all shapes stretch. Errors: InvalidArgument if there is none.
Extents broadcast_shape(std::span<const Extents> shapes);

template <class T, LocalView V>
OperandRef operand_as_view(const V& view) {
  OperandRef result;
  result.array = array_ref(view);
  return result;
}
template <class T, class N>
requires is_number_v<N> OperandRef operand_as_view(const N& number) {
  return operand_as<T>(number);
}

/// Computes an elementwise operator on Views of this rank.
template <ElementwiseOp op, class... A>
auto call_elementwise_on_views(const Execution& execution, const A&... arguments) {
  using T = typename ElementwiseTypes<op, A...>::Operand;
  if constexpr (operand_fault<op, A...>() == OperandFault::none) {
    using R = typename ElementwiseTypes<op, A...>::Result;
    using Result = typename ElementwiseView<R, A...>::type;
    const auto& info = elementwise_info(op);
    return named(info.function.text, [&] {
      const std::array<OperandRef, sizeof...(A)> operands{operand_as_view<T>(arguments)...};
      std::array<Extents, sizeof...(A)> shapes;
      std::array<ArrayRef, sizeof...(A)> arrays;
      for (std::size_t k = 0; k < sizeof...(A); ++k) {
        arrays[k] = operands[k].array;
        shapes[k] = arrays[k].extents;
      }
      auto result = allocate<Result>(broadcast_shape(shapes), info.label);
      run_elementwise(execution, op, element_type<T>(), operands, arrays, array_ref(result), true);
      return result;
    });
  } else {
    return typename FirstView<typename OperandView<A>::type...>::type();
  }
}

}  // namespace tessera::detail
