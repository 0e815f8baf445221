// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/ops/detail/call.hpp>
#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/reductions.hpp>
#include <tessera/redistribute/redistribute.hpp>

namespace tessera {

/// A UserOperator is an operator of a program. Its type has
///   - `name`, a static constexpr text;
///   - `shape(call)`, a static function that returns the shape of the result. The library also
///     calls it with specs of local pieces; then it returns the shape of the local result;
///   - `rules(call)`, a static function that returns the rules, see OperatorRules;
///   - `local(views…)`, a const member that returns a View of the local result, computed from local
///     Views;
///   - `attributes()`, if objects of the type have state: a const member that returns all of it as
///     a std::vector<OperatorAttribute>, so that calls with other state count as other calls.
template <class Op>
concept UserOperator = requires(const OperatorCall& call) {
  { Op::name } -> std::convertible_to<const char*>;
  { Op::shape(call) } -> std::convertible_to<Extents>;
  { Op::rules(call) } -> std::convertible_to<std::vector<OperatorRule>>;
};

namespace detail {

void register_rules(const char* name, OperatorRules rules);
/// Returns the name. Errors: InvalidArgument if no operator of the library has it.
const char* require_operator_name(const char* name);

template <class Op>
inline constexpr bool is_factory = requires {
  Op::is_factory;
};

template <ElementwiseOp op>
const char* operator_name(const ElementwiseOperator<op>&) {
  return traits_of(op).name;
}
template <ReductionOp op>
const char* operator_name(const ReductionOperator<op>&) {
  return traits_of(op).function.text;
}
template <ReductionOp op>
const char* operator_name(const DotOperator<op>&) {
  return traits_of(op).function.text;
}
inline const char* operator_name(const NormOperator&) {
  return "norm";
}
inline const char* operator_name(const VarianceOperator&) {
  return "var";
}
inline const char* operator_name(const DeviationOperator&) {
  return "std";
}
template <UserOperator Op>
const char* operator_name(const Op&) {
  return Op::name;
}
inline const char* operator_name(const char* name) {
  return require_operator_name(name);
}

template <UserOperator Op>
inline constexpr OperatorInfo user_info{
    FunctionName(Op::name),
    Op::name,
    Op::name,
    [](const OperatorCall& call) { return Extents(Op::shape(call)); },
    [](const OperatorCall& call) { return Op::rules(call); },
    false};

template <class Op>
std::vector<OperatorAttribute> attributes_of(const Op& op) {
  if constexpr (requires { op.attributes(); })
    return op.attributes();
  else
    return {};
}

/// Returns the tensor as the choice wants operand `k`.
template <class V>
DTensor<redistributed_view_t<V>> moved_operand(const Execution& execution, const PreparedCall& call,
                                               std::size_t k, const DTensor<V>& tensor) {
  return redistribute(execution, tensor, Target(input_of(call, k)));
}

/// Calls function(views…) with the local Views of the operands, moved where the choice wants it.
template <class Function, class First, class... Rest, class... Views>
auto with_views(const Execution& execution, const PreparedCall& call, std::size_t k,
                const Function& function, const std::tuple<const First&, const Rest&...>& operands,
                const Views&... views);
template <class Function, class... Views>
auto with_views(const Execution&, const PreparedCall&, std::size_t, const Function& function,
                const std::tuple<>&, const Views&... views) {
  return function(views...);
}
template <class Function, class First, class... Rest, class... Views>
auto with_views(const Execution& execution, const PreparedCall& call, std::size_t k,
                const Function& function, const std::tuple<const First&, const Rest&...>& operands,
                const Views&... views) {
  const auto rest = std::apply(
      [](const First&, const Rest&... others) { return std::tuple<const Rest&...>(others...); },
      operands);
  const auto go_on = [&](const auto& view) {
    return with_views(execution, call, k + 1, function, rest, views..., view);
  };
  const auto& first = std::get<0>(operands);
  if constexpr (is_number_v<First>)
    return go_on(first);
  else if (moves(call, k))
    return go_on(moved_operand(execution, call, k, first).to_local());
  else
    return go_on(first.to_local());
}

/// True if local() takes an execution before the Views.
template <class Op, class... Views>
concept LocalTakesExecution = requires(const Op& op, const Execution& exec, const Views&... views) {
  op.local(exec, views...);
};

/// Calls local() with Views and numbers.
template <class Op, class... Views>
auto call_local(const Op& op, const Execution& exec, const Views&... views) {
  if constexpr (LocalTakesExecution<Op, Views...>)
    return op.local(exec, views...);
  else
    return op.local(views...);
}

/// Returns what local() gets for an operand that does not move.
template <class A>
const auto& local_operand(const A& operand) {
  if constexpr (is_number_v<A>)
    return operand;
  else
    return operand.to_local();
}

/// Names the View type that local() returns.
template <class Op, class... A>
using local_result_t = std::remove_cvref_t<decltype(call_local(
    std::declval<const Op&>(), std::declval<const Execution&>(),
    local_operand(std::declval<const A&>())...))>;

template <class A>
OperandRef operand_of_any_type(const A& argument) {
  if constexpr (is_number_v<A>)
    return operand_ref<A>(argument);
  else
    return operand_ref<typename OperandElement<A>::type>(argument);
}

}  // namespace detail

/// Runs an operator of a program on tensors and numbers, of which at least one is a tensor, and
/// returns a tensor of what local() returns. Placements are chosen by its rules, as for the
/// library's operators.
///
/// Collective over the mesh if an operand has to be redistributed, otherwise local. Errors:
/// PlacementMismatch; InvalidArgument for rules that do not fit the call, under which pieces of the
/// operands do not give a piece of the result; and, on the ranks concerned alone, for a local result
/// of another shape. The text names the operator.
template <UserOperator Op, Operand... A>
auto call_operator(const Op& op, const A&... operands) {
  return call_operator(Execution(), op, operands...);
}
/// Passes `exec` to local() as its first argument if local() takes it.
template <UserOperator Op, Operand... A>
auto call_operator(const Execution& exec, const Op& op, const A&... operands) {
  const auto local = [&](const auto&... views) { return detail::call_local(op, exec, views...); };
  const std::array refs{detail::operand_of_any_type(operands)...};
  const auto attributes = detail::attributes_of(op);
  using Result = detail::local_result_t<Op, A...>;
  static_assert(LocalView<Result>, "an operator's local() returns a View of the local result");
  const detail::CallRequest request{detail::user_info<Op>,
                                    refs,
                                    element_type<typename Result::value_type>(),
                                    {},
                                    false,
                                    attributes};
  const auto& mesh = detail::common_mesh(request);
  const auto prepared = detail::prepare(mesh, request);
  if (!mesh.coordinate())
    return detail::DTensorAccess::make(Result(), mesh, detail::output_of(*prepared));
  const auto view = detail::with_views(exec, *prepared, 0, local, std::tie(operands...));
  if (detail::extents_of(view) != detail::local_box_of(*prepared).shape)
    detail::throw_wrong_local_shape(*prepared, detail::extents_of(view));
  detail::record(*prepared, request);
  return detail::DTensorAccess::make(Result(view), mesh, detail::output_of(*prepared));
}

/// Gives other rules to an operator of the program, or of the library. The former is given as an
/// object, the latter also by name, such as ops::exp or "exp"; ops::norm is "norm_one", "norm_two" and
/// "norm_inf". `rules` is called once for each new combination of operands, and must return the same
/// on all ranks. Call register_sharding() on all ranks alike, before they use the operator. Local.
///
/// Example: register_sharding(ops::exp, [](const OperatorCall&) {
///            return std::vector<OperatorRule>{{Replicate(), {Replicate()}}}; });
template <class Op>
void register_sharding(const Op& op, const OperatorRules& rules) {
  static_assert(!std::is_same_v<Op, detail::DeviationOperator>,
                "std is the root of var: register rules for ops::var");
  static_assert(!detail::is_factory<Op>,
                "a factory has no operands whose placements could be chosen");
  static_assert(!std::is_same_v<Op, detail::NormOperator>,
                "norm is one of three reductions: register rules for \"norm_one\", \"norm_two\" or "
                "\"norm_inf\"");
  using detail::operator_name;
  detail::register_rules(operator_name(op), rules);
}
/// Gives several operators the same rules.
template <class... Op>
void register_sharding(const std::tuple<Op...>& list, const OperatorRules& rules) {
  std::apply([&](const auto&... op) { (register_sharding(op, rules), ...); }, list);
}
/// Takes back register_sharding(): the operator has its own rules again.
template <class Op>
void unregister_sharding(const Op& op) {
  using detail::operator_name;
  detail::register_rules(operator_name(op), {});
}

}  // namespace tessera
