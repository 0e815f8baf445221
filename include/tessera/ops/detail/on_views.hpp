// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include <tessera/ops/detail/elementwise.hpp>

namespace tessera::detail {

/// Returns the shape to which all shapes stretch. Errors: InvalidArgument if there is none.
Extents broadcast_shape(std::span<const Extents> shapes);

/// Returns the OperandRef of argument `k`, a View or a number.
template <class T, class A>
OperandRef operand_on_views(ElementwiseOp op, std::size_t k, const A& argument) {
  if constexpr (is_number_v<A>) {
    return k == 0 ? first_operand_as<T>(op, argument) : operand_ref<T>(argument);
  } else {
    OperandRef result;
    result.array = array_ref(argument);
    return result;
  }
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
      std::size_t k = 0;
      const std::array<OperandRef, sizeof...(A)> operands{
          operand_on_views<T>(op, k++, arguments)...};
      std::array<Extents, sizeof...(A)> shapes;
      std::array<ArrayRef, sizeof...(A)> arrays;
      for (std::size_t i = 0; i < sizeof...(A); ++i) {
        arrays[i] = operands[i].array;
        shapes[i] = arrays[i].extents;
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
