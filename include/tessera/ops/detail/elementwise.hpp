// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <tessera/ops/detail/call.hpp>
#include <tessera/ops/detail/elementwise_op.hpp>
#include <tessera/ops/detail/misuse.hpp>
#include <tessera/ops/detail/operand.hpp>

namespace tessera::detail {

/// Tells whether the first argument of a call is an execution space instance.
template <class First, class...>
inline constexpr bool is_execution =
    Kokkos::is_execution_space_v<First> || std::is_same_v<First, Execution>;

/// Names the element type of a result, given that of the operands.
template <ElementwiseOp op, class T>
using elementwise_result_t = std::conditional_t<
    traits_of(op).result == ResultKind::boolean, bool,
    std::conditional_t<traits_of(op).result == ResultKind::real, typename PartOf<T>::type, T>>;

/// Names the element type of an operator's operands, and that of its result.
template <ElementwiseOp op, class... A>
struct ElementwiseTypes {
  using Operand = typename CommonElement<typename OperandElement<A>::type...>::type;
  using Result = elementwise_result_t<op, Operand>;
};
template <class C, class... A>
struct ElementwiseTypes<ElementwiseOp::where, C, A...> {
  using Operand = typename CommonElement<typename OperandElement<A>::type...>::type;
  using Result = Operand;
};

/// Names what is wrong with the operands of an operator.
enum class OperandFault : std::uint8_t {
  none,
  count,
  view,
  condition,
  types,
  opaque,
  kind,
  number,
  space
};

/// Returns whether an operator takes operands of these types, which are tensors or not.
template <ElementwiseOp op, class... A>
consteval bool has_right_count() {
  using enum ElementwiseOp;
  // Limits and factors are numbers, behind the tensors.
  constexpr std::size_t numbers_behind = op == clamp || op == axpby ? 2 : 0;
  constexpr auto tensors = static_cast<std::size_t>(traits_of(op).tensors);
  if (sizeof...(A) != tensors + numbers_behind) return false;
  std::size_t k = 0;
  return ((k++ < tensors || numbers_behind == 0 || is_number_v<A>)&&...);
}

template <ElementwiseOp op, class First, class...>
inline constexpr bool has_right_condition =
    op != ElementwiseOp::where || is_number_v<First> ||
    std::is_same_v<typename OperandElement<First>::type, bool>;

template <class A, class T>
consteval bool fits_as_number() {
  if constexpr (is_number_v<A>)
    return number_fits<A, T>();
  else
    return true;
}

template <ElementwiseOp op, class... A>
consteval OperandFault operand_fault() {
  if constexpr (has_other_tensor<A...>) {
    return OperandFault::none;  // for the layer that knows them
  } else if constexpr (has_tensor<A...> && has_view<A...>) {
    return OperandFault::view;
  } else if constexpr (!has_right_count<op, A...>()) {
    return OperandFault::count;
  } else if constexpr (!has_right_condition<op, A...>) {
    return OperandFault::condition;
  } else {
    using T = typename ElementwiseTypes<op, A...>::Operand;
    if constexpr (std::is_void_v<T>) {
      return OperandFault::types;
    } else {
      using First = typename FirstView<typename OperandView<A>::type...>::type;
      constexpr auto kind = bit_of(element_kind<T>);
      if constexpr (kind == 0) return OperandFault::opaque;
      if constexpr ((kind & traits_of(op).kinds) == 0) return OperandFault::kind;
      if constexpr (!(fits_as_number<A, T>() && ...)) return OperandFault::number;
      if constexpr (!(is_in_space_of<First, typename OperandView<A>::type> && ...))
        return OperandFault::space;
      return OperandFault::none;
    }
  }
}

/// Stops the compiler with a sentence unless `fault` is none.
template <OperandFault fault>
struct ExpectOperands {
  static_assert(
      fault != OperandFault::count,
      "this operator takes another number of operands; clamp(x, least, most) takes numbers "
      "as limits");
  static_assert(fault != OperandFault::condition,
                "where takes a bool tensor as its condition, such as x < 0");
  static_assert(fault != OperandFault::view,
                "an operator takes tensors and numbers: make the View a tensor by from_local(), or "
                "write x + implicit(view) with ImplicitReplication implicit(mesh)");
  static_assert(fault != OperandFault::types,
                "an operator takes operands of one element type, or of floating and complex ones: "
                "convert one of them by to<T>(x)");
  static_assert(fault != OperandFault::opaque,
                "an operator takes tensors whose elements are numbers or bool");
  static_assert(fault != OperandFault::kind,
                "this operator has no result for elements of this type: convert the operand by "
                "to<T>(x), as in sqrt(to<double>(x))");
  static_assert(fault != OperandFault::number,
                "a number takes the element type of the tensor, which cannot hold numbers of this "
                "type: convert the tensor by to<T>(x), or the number");
  static_assert(fault != OperandFault::space,
                "an operator takes operands in one memory space: convert one of them by "
                "to<OtherView>(x)");
};

/// Calls an elementwise operator: a function object.
template <ElementwiseOp op>
struct ElementwiseOperator {
  template <class... A>
  requires(sizeof...(A) >= 1 && !is_execution<std::remove_cvref_t<A>...>) auto operator()(
      A&&... operands) const {
    constexpr auto fault = operand_fault<op, std::remove_cvref_t<A>...>();
    [[maybe_unused]] const ExpectOperands<fault> expected;
    if constexpr (fault == OperandFault::none) {
      std::size_t k = 0;
      OperatorContext context;
      ((context.temporaries |= temporary_bit<A>(k++)), ...);
      return apply_op(*this, context, std::as_const(operands)...);
    } else {
      return typename FirstTensor<std::remove_cvref_t<A>...>::type();
    }
  }
  /// Orders the work on `exec`.
  template <class Space, class... A>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A&... operands) const {
    constexpr auto fault = operand_fault<op, A...>();
    [[maybe_unused]] const ExpectOperands<fault> expected;
    if constexpr (fault == OperandFault::none)
      return apply_op(*this, OperatorContext{Execution(exec), 0}, operands...);
    else
      return typename FirstTensor<A...>::type();
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

/// Returns the OperandRef of the first argument: a number there is the condition of where().
template <class T, class A>
OperandRef first_operand_as(ElementwiseOp op, const A& argument) {
  if constexpr (is_number_v<A>)
    if (op == ElementwiseOp::where) return operand_ref<bool>(argument);
  return operand_ref<T>(argument);
}

/// Returns the OperandRefs of arguments of an operator whose operands are of type T. Errors:
/// InvalidArgument for a number that T cannot hold.
template <class T, class First, class... Rest>
std::array<OperandRef, sizeof...(Rest) + 1> operands_as(ElementwiseOp op, const First& first,
                                                        const Rest&... rest) {
  if constexpr (is_number_v<First> || (is_number_v<Rest> || ...))
    return named(traits_of(op).function.text, [&] {
      return std::array<OperandRef, sizeof...(Rest) + 1>{first_operand_as<T>(op, first),
                                                         operand_ref<T>(rest)...};
    });
  else
    return {operand_ref<T>(first), operand_ref<T>(rest)...};
}

/// Returns the mesh of the first tensor.
inline const DeviceMesh* operand_mesh(std::span<const OperandRef> operands) {
  for (const auto& operand : operands)
    if (operand.mesh != nullptr) return operand.mesh;
  return nullptr;
}

/// Chooses the placements of an elementwise call. Errors: those of prepare().
std::shared_ptr<const PreparedCall> prepare_elementwise(ElementwiseOp op, ElementType result,
                                                        std::span<const OperandRef> operands);
/// Throws PlacementMismatch unless the call can change its first operand; see require_in_place().
void require_change(ElementwiseOp op, const PreparedCall& call,
                    std::span<const OperandRef> operands);
/// Moves operands, and computes the result in its memory; see run().
void run_elementwise_call(const Execution& execution, ElementwiseOp op, ElementType type,
                          const PreparedCall& call, std::span<const OperandRef> operands,
                          const ArrayRef& result, const OwnerRef& owner);

/// Calls an elementwise operator on operands with elements of `type`. It does not depend on the
/// operator, so that all operators of these operands share one instance.
template <class Result, std::size_t N, class... A>
DTensor<Result> call_elementwise_as(ElementwiseOp op, ElementType type,
                                    const OperatorContext& context,
                                    const std::array<OperandRef, N>& operands,
                                    const A&... tensors) {
  const auto prepared =
      prepare_elementwise(op, element_type<typename Result::value_type>(), operands);
  const auto result = result_tensor_of<Result>(context, *operand_mesh(operands), *prepared,
                                               traits_of(op).label, tensors...);
  run_elementwise_call(context.execution, op, type, *prepared, operands,
                       array_ref(result.to_local()), [&] { return held_all(result, tensors...); });
  return result;
}

/// Calls an elementwise operator.
template <ElementwiseOp op, class... A>
auto call_elementwise(const OperatorContext& context, const A&... arguments) {
  using T = typename ElementwiseTypes<op, A...>::Operand;
  if constexpr (operand_fault<op, A...>() == OperandFault::none) {
    using R = typename ElementwiseTypes<op, A...>::Result;
    using Result = typename ElementwiseView<R, A...>::type;
    const auto operands = operands_as<T>(op, arguments...);
    return call_elementwise_as<Result>(op, element_type<T>(), context, operands, arguments...);
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
  constexpr auto fault = operand_fault<op, DTensor<V>, A...>();
  [[maybe_unused]] const ExpectOperands<fault> expected;
  if constexpr (fault == OperandFault::none && std::is_same_v<Common, T>) {
    const auto operands = operands_as<T>(op, tensor, arguments...);
    const auto prepared = prepare_elementwise(op, element_type<T>(), operands);
    require_change(op, *prepared, operands);
    run_elementwise_call(execution, op, element_type<T>(), *prepared, operands,
                         array_ref(tensor.to_local()),
                         [&] { return held_all(tensor, arguments...); });
  }
}

}  // namespace tessera::detail
