// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/rules.hpp"

namespace tessera::detail {
namespace {

using Inputs = std::vector<std::optional<Placement>>;

/// Returns one placement for all tensors among the operands.
Inputs for_all(const OperatorCall& call, Placement placement) {
  Inputs result;
  for (const auto& operand : call.operands)
    result.push_back(operand.spec ? std::optional(placement) : std::nullopt);
  return result;
}

OperatorRule split_rule(const OperatorCall& call, int dim) {
  OperatorRule rule{Shard(dim), {}};
  const auto dims = static_cast<int>(call.shape.size());
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    const auto& operand = call.operands[k];
    if (!operand.spec) {
      rule.inputs.emplace_back(std::nullopt);
      continue;
    }
    const int mine = dim - (dims - call.tensor_dims(k));
    const auto extent = call.shape[static_cast<std::size_t>(dim)];
    const bool is_split =
        mine >= 0 && operand.spec->shape()[static_cast<std::size_t>(mine)] == extent;
    rule.inputs.push_back(is_split ? Placement(Shard(mine)) : Placement(Replicate()));
  }
  return rule;
}

bool has_fractions(ElementKind kind) {
  return is_floating(kind) || is_complex(kind);
}

bool has_one_type(const OperatorCall& call) {
  return std::ranges::all_of(call.operands, [&](const OperatorOperand& operand) {
    return operand.type == call.operands.back().type;
  });
}

bool is_number(const OperatorOperand& operand) {
  return operand.number.has_value();
}

/// Lists the Partials that sums pass through: also averages of numbers with fractions.
std::vector<ReduceOp> linear_ops(ElementKind kind) {
  if (has_fractions(kind)) return {ReduceOp::sum, ReduceOp::avg};
  if (is_integer(kind)) return {ReduceOp::sum};
  return {};
}

/// Adds the rules by which Partials pass through a linear operator.
void add_partial_rules(std::vector<OperatorRule>& rules, OnPartial on_partial,
                       const OperatorCall& call) {
  const auto& operands = call.operands;
  const auto kind = operands.back().type.kind;
  const auto all_pass = [&](ReduceOp op) {
    rules.push_back({Partial(op), for_all(call, Partial(op))});
  };
  const auto pass_linearly = [&] {
    for (const auto op : linear_ops(kind)) all_pass(op);
  };
  const auto numbers_are_finite = std::ranges::all_of(operands, [](const OperatorOperand& operand) {
    return !operand.number || operand.number->is_finite;
  });
  const auto tensors = std::ranges::count_if(
      operands, [](const OperatorOperand& operand) { return operand.spec.has_value(); });

  switch (on_partial) {
    case OnPartial::linear:
      return pass_linearly();
    case OnPartial::reverses:
      pass_linearly();
      if (is_floating(kind)) {
        rules.push_back({Partial(ReduceOp::min), {Partial(ReduceOp::max)}});
        rules.push_back({Partial(ReduceOp::max), {Partial(ReduceOp::min)}});
      }
      return;
    case OnPartial::increasing:
      if (!is_complex(kind)) {
        all_pass(ReduceOp::max);
        all_pass(ReduceOp::min);
      }
      return;
    case OnPartial::adds:
      if (!has_one_type(call)) return;
      if (numbers_are_finite) pass_linearly();
      // A finite number moves all values alike; integers might wrap around.
      if (call.name == "add" && tensors == 1 && is_floating(kind) && numbers_are_finite) {
        all_pass(ReduceOp::max);
        all_pass(ReduceOp::min);
      }
      return;
    case OnPartial::scales:
      if (tensors == 1 && numbers_are_finite) pass_linearly();
      return;
    case OnPartial::divides:
      if (tensors == 1 && is_number(operands[1]) && numbers_are_finite &&
          !operands[1].number->is_zero && has_fractions(kind))
        pass_linearly();
      return;
    case OnPartial::selects:
      if (tensors == 3 && operands[1].type == operands[2].type)
        for (const auto op : linear_ops(kind))
          rules.push_back({Partial(op), {Replicate(), Partial(op), Partial(op)}});
      return;
    case OnPartial::minimum:
      return all_pass(ReduceOp::min);
    case OnPartial::maximum:
      return all_pass(ReduceOp::max);
    case OnPartial::ors:
      return all_pass(ReduceOp::bor);
    case OnPartial::reduces:
      return;
  }
}

}  // namespace

std::vector<OperatorRule> elementwise_rules(OnPartial on_partial, const OperatorCall& call) {
  std::vector<OperatorRule> rules;
  for (std::size_t d = 0; d < call.shape.size(); ++d)
    rules.push_back(split_rule(call, static_cast<int>(d)));
  const bool is_or = call.name == "add" && call.type.kind == ElementKind::boolean;
  add_partial_rules(rules, is_or ? OnPartial::ors : on_partial, call);
  rules.push_back({Replicate(), for_all(call, Replicate())});
  return rules;
}

std::vector<OperatorRule> reduction_rules(ReduceOp op, const std::vector<ReduceOp>& kept,
                                          const OperatorCall& call) {
  const auto& dims = call.integers("dims");
  const bool keeps = call.integers("keep_dims").front() != 0;
  const auto& first = *std::ranges::find_if(
      call.operands, [](const OperatorOperand& operand) { return operand.spec.has_value(); });
  std::vector<OperatorRule> rules;
  int result_dim = 0;
  for (int d = 0; d < first.spec->tensor_dims(); ++d) {
    const bool is_reduced = std::ranges::find(dims, d) != dims.end();
    const Placement output = is_reduced ? Placement(Partial(op)) : Placement(Shard(result_dim));
    Inputs inputs;
    for (const auto& operand : call.operands) {
      const auto dim = static_cast<std::size_t>(d);
      const bool is_stretched =
          operand.spec && operand.spec->shape()[dim] != first.spec->shape()[dim];
      inputs.push_back(is_stretched ? Placement(Replicate()) : Placement(Shard(d)));
    }
    rules.push_back({output, std::move(inputs)});
    if (!is_reduced || keeps) ++result_dim;
  }
  for (const auto partial : kept)
    rules.push_back({Partial(partial), for_all(call, Partial(partial))});
  rules.push_back({Replicate(), for_all(call, Replicate())});
  return rules;
}

Placement own_elements(ElementKind kind) {
  return Partial(kind == ElementKind::boolean ? ReduceOp::bor : ReduceOp::sum);
}

}  // namespace tessera::detail
