// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include <tessera/ops/operator.hpp>

#include "ops/registry.hpp"

namespace tessera {
namespace detail {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, OperatorRules, std::less<>> rules;
  std::atomic<std::uint64_t> generation = 0;
};

Registry& registry() {
  static Registry result;
  return result;
}

void require_fitting(const OperatorCall& call, const OperatorRule& rule) {
  const auto lies = [&](std::string_view what) {
    return fmt::format("expected rules of operator \"{}\" that fit the call, got {}: {}", call.name,
                       to_string(rule), what);
  };
  require(rule.inputs.size() == call.operands.size(), [&] {
    return lies(fmt::format("it has {} inputs, the call has {} operands", rule.inputs.size(),
                            call.operands.size()));
  });
  const auto dims = static_cast<int>(call.shape.size());
  require(!rule.output.is_shard() || (rule.output.dim() >= 0 && rule.output.dim() < dims),
          [&] { return lies(fmt::format("the result has shape {}", to_string(call.shape))); });
  for (std::size_t k = 0; k < rule.inputs.size(); ++k) {
    const auto& operand = call.operands[k];
    const auto& input = rule.inputs[k];
    require(input.has_value() == operand.spec.has_value(), [&] {
      return lies(fmt::format("operand {} {} a tensor", k, operand.spec ? "is" : "is not"));
    });
    require(
        !input || !input->is_shard() ||
            (input->dim() >= 0 && input->dim() < operand.spec->tensor_dims()),
        [&] {
          return lies(fmt::format("operand {} has shape {}", k, to_string(operand.spec->shape())));
        });
  }
}

}  // namespace

std::vector<OperatorRule> rules_of(const OperatorInfo& op, const OperatorCall& call,
                                   bool& is_registered) {
  OperatorRules registered;
  {
    const std::scoped_lock lock(registry().mutex);
    const auto found = registry().rules.find(call.name);
    if (found != registry().rules.end()) registered = found->second;
  }
  // What is no operator of the library may be wrong, too.
  is_registered = registered != nullptr || !op.is_built_in;
  if (!registered && op.is_built_in) return op.rules(call);
  if (!registered) registered = op.rules;
  auto rules = registered(call);
  require(!rules.empty(), [&] {
    return fmt::format("expected at least one rule of operator \"{}\" for {}", call.name,
                       to_string(call));
  });
  for (const auto& rule : rules) require_fitting(call, rule);
  return rules;
}

std::uint64_t registry_generation() {
  return registry().generation;
}

const char* require_operator_name(const char* name) {
  const std::string_view wanted(name);
  constexpr std::array<std::string_view, 13> others{
      "std",  "norm",   "matmul", "softmax", "log_softmax", "logsumexp", "cross_entropy",
      "take", "cumsum", "diag",   "tril",    "triu",        "outer"};
  const bool is_known =
      std::ranges::find(others, wanted) != others.end() ||
      std::ranges::any_of(elementwise_table,
                          [&](const ElementwiseTraits& each) { return each.name == wanted; }) ||
      std::ranges::any_of(reduction_table, [&](const ReductionTraits& each) {
        return rule_name(each.op) == wanted;
      });
  require(is_known, [&] {
    return fmt::format(
        "expected the name of an operator of the library, such as \"add\" or \"sum\", got \"{}\"; "
        "give other operators as objects",
        name);
  });
  return name;
}

void register_rules(const char* name, OperatorRules rules) {
  const std::string_view wanted(name);
  require(wanted != "std" && wanted != "norm", [&] {
    return fmt::format(
        "expected an operator with rules of its own, got \"{}\": give the rules to \"{}\"", name,
        wanted == "std" ? "var" : "norm_one\", \"norm_two\" or \"norm_inf");
  });
  const std::scoped_lock lock(registry().mutex);
  if (rules)
    registry().rules[name] = std::move(rules);
  else
    registry().rules.erase(name);
  ++registry().generation;
}

}  // namespace detail

const std::vector<std::int64_t>& OperatorCall::integers(const std::string& attribute) const {
  for (const auto& [name, value] : attributes)
    if (name == attribute)
      if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) return *integers;
  throw InvalidArgument("OperatorCall: expected an attribute of integers named \"" + attribute +
                        "\" in a call of " + this->name);
}

std::string to_string(const OperatorRule& rule) {
  std::string text;
  for (const auto& input : rule.inputs) {
    if (!text.empty()) text += ", ";
    text += input ? to_string(*input) : "number";
  }
  return text + " -> " + to_string(rule.output);
}

std::string to_string(const OperatorCall& call) {
  std::string text = call.name + " of ";
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    if (k > 0) text += k + 1 < call.operands.size() ? ", " : " and ";
    const auto& operand = call.operands[k];
    text += operand.spec ? to_string(operand.type) + " " + to_string(*operand.spec) : "a number";
  }
  const auto is_reduction = !call.attributes.empty() && call.attributes.front().name == "dims";
  if (is_reduction) text += fmt::format(" over dims {}", to_string(Extents(call.integers("dims"))));
  return text;
}

}  // namespace tessera
