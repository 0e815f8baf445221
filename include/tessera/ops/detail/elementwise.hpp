// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <tessera/error/detail/never.hpp>
#include <tessera/ops/detail/call.hpp>
#include <tessera/ops/detail/elementwise_op.hpp>
#include <tessera/ops/detail/misuse.hpp>
#include <tessera/ops/detail/operand.hpp>

namespace tessera::detail {

/// Tells whether the first argument of a call is an execution space instance.
template <class First, class...>
inline constexpr bool is_execution =
    Kokkos::is_execution_space_v<First> || std::is_same_v<First, Execution>;

/// An elementwise operator, as a function object.
template <ElementwiseOp op>
struct ElementwiseOperator {
  template <class... A>
  requires(sizeof...(A) >= 1 && !is_execution<std::remove_cvref_t<A>...>) auto operator()(
      A&&... operands) const {
    std::size_t k = 0;
    const OperatorContext context{{}, (0U | ... | temporary_bit<A>(k++))};
    return apply_op(*this, context, std::as_const(operands)...);
  }
  /// Orders the work on `exec`.
  template <class Space, class... A>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A&... operands) const {
    return apply_op(*this, OperatorContext{Execution(exec), 0}, operands...);
  }
};

/// Returns what all calls of an elementwise operator have in common.
const OperatorInfo& elementwise_info(ElementwiseOp op);

/// Computes an elementwise operator on local pieces, in one kernel. Operands have the element type
/// `type`, but for the condition of where(); their extents are those of `result`, or stretch to them.
/// Without `counts_numbers`, numbers that are added count as 0.
void run_elementwise(const Execution& execution, ElementwiseOp op, ElementType type,
                     std::span<const OperandRef> operands, std::span<const ArrayRef> arrays,
                     const ArrayRef& result, bool counts_numbers);

/// Names the element type of an operator's operands, and that of its result.
template <ElementwiseOp op, class... A>
struct ElementwiseTypes {
  using Operand = typename CommonElement<typename OperandElement<A>::type...>::type;
  using Result = std::conditional_t<traits_of(op).result == ResultKind::boolean, bool,
                                    std::conditional_t<traits_of(op).result == ResultKind::real,
                                                       typename PartOf<Operand>::type, Operand>>;
};
template <class C, class... A>
struct ElementwiseTypes<ElementwiseOp::where, C, A...> {
  using Operand = typename CommonElement<typename OperandElement<A>::type...>::type;
  using Result = Operand;
};

/// Stops the compiler with a sentence unless the operator takes operands of these types.
template <ElementwiseOp op, class... A>
consteval bool expect_operands() {
  using T = typename ElementwiseTypes<op, A...>::Operand;
  if constexpr (std::is_void_v<T>) {
    static_assert(never<A...>,
                  "operators take operands of one element type, or of floating and complex ones: "
                  "convert one of them by to<T>(x)");
    return false;
  } else {
    constexpr bool is_number_kind = bit_of(element_kind<T>) != 0;
    static_assert(is_number_kind, "operators take tensors whose elements are numbers or bool");
    constexpr bool is_kind = (bit_of(element_kind<T>) & traits_of(op).kinds) != 0;
    static_assert(is_kind || !is_number_kind,
                  "this operator has no result for elements of this type: convert the operand by "
                  "to<T>(x), as in sqrt(to<double>(x))");
    using First = typename FirstView<typename OperandView<A>::type...>::type;
    constexpr bool is_one_space = (is_in_space_of<First, typename OperandView<A>::type> && ...);
    static_assert(is_one_space,
                  "operators take operands in one memory space: convert one of them by "
                  "to<OtherView>(x)");
    return is_kind && is_one_space;
  }
}

/// Returns the OperandRef of an argument of an operator whose operands are of type T.
template <class T, class A>
OperandRef operand_as(const A& argument) {
  if constexpr (is_number_v<A>) {
    static_assert(
        number_fits<A, T>(),
        "a number takes the element type of the tensor, which cannot hold numbers of this "
        "type: convert the tensor by to<T>(x), or the number");
    if constexpr (number_fits<A, T>()) return operand_ref<T>(argument);
    return {};
  } else {
    return operand_ref<T>(argument);
  }
}

/// Calls an elementwise operator. `numbers` are what it takes besides its operands.
template <ElementwiseOp op, class... A>
auto call_elementwise(const OperatorContext& context, const A&... arguments) {
  using T = typename ElementwiseTypes<op, A...>::Operand;
  if constexpr (expect_operands<op, A...>()) {
    using R = typename ElementwiseTypes<op, A...>::Result;
    using Result = typename ElementwiseView<R, A...>::type;
    const auto& info = elementwise_info(op);
    const auto operands = named(info.function.text, [&] {
      return std::array<OperandRef, sizeof...(A)>{operand_as<T>(arguments)...};
    });
    const CallRequest request{info, operands, element_type<R>()};
    const auto& mesh = common_mesh(request);
    const auto prepared = prepare(mesh, request);
    const auto& execution = context.execution;
    auto result = result_tensor_of<Result>(context, mesh, *prepared, info.label, arguments...);
    const auto kernel = [&](std::span<const ArrayRef> arrays, const ArrayRef& to) {
      run_elementwise(execution, op, element_type<T>(), operands, arrays, to,
                      counts_numbers(*prepared));
    };
    run(execution, *prepared, request, array_ref(result.to_local()), kernel,
        [&] { return held_all(result, arguments...); });
    return result;
  } else {
    return typename FirstTensor<A...>::type();
  }
}

/// Changes the elements of `tensor`, the first operand, to the result of the operator.
template <ElementwiseOp op, class V, class... A>
void change_elementwise(const Execution& execution, const DTensor<V>& tensor,
                        const A&... arguments) {
  using T = std::remove_const_t<typename V::value_type>;
  static_assert(!std::is_const_v<typename V::value_type>,
                "expected a tensor that can be written: its View has const elements");
  using Common = typename ElementwiseTypes<op, DTensor<V>, A...>::Operand;
  static_assert(std::is_same_v<Common, T> || std::is_void_v<Common>,
                "the result has another element type than the tensor that is changed: convert the "
                "other operand by to<T>(y)");
  if constexpr (expect_operands<op, DTensor<V>, A...>() && std::is_same_v<Common, T>) {
    const auto& info = elementwise_info(op);
    const auto operands = named(info.function.text, [&] {
      return std::array<OperandRef, sizeof...(A) + 1>{operand_ref<T>(tensor),
                                                      operand_as<T>(arguments)...};
    });
    const CallRequest request{info, operands, element_type<T>()};
    const auto prepared = prepare(common_mesh(request), request);
    require_in_place(*prepared, request);
    const auto kernel = [&](std::span<const ArrayRef> arrays, const ArrayRef& to) {
      run_elementwise(execution, op, element_type<T>(), operands, arrays, to,
                      counts_numbers(*prepared));
    };
    run(execution, *prepared, request, array_ref(tensor.to_local()), kernel,
        [&] { return held_all(tensor, arguments...); });
  }
}

}  // namespace tessera::detail
