// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tessera/extents/element_type.hpp>
#include <tessera/placement/placement.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

/// Describes a number that is an operand.
struct OperandNumber {
  bool is_finite = true;
  bool is_zero = false;
  bool is_negative = false;  ///< read by rules of programs alone

  friend bool operator==(const OperandNumber&, const OperandNumber&) = default;
};

/// Describes one operand of an operator.
struct OperatorOperand {
  std::optional<DTensorSpec> spec = {};      ///< none if it is no tensor
  ElementType type = {};                     ///< that of the tensor's elements, or of the number
  std::optional<OperandNumber> number = {};  ///< none if it is a tensor

  friend bool operator==(const OperatorOperand&, const OperatorOperand&) = default;
};

/// Holds a named value that an operator is called with, besides its operands.
struct OperatorAttribute {
  std::string name;
  std::variant<std::int64_t, double, std::vector<std::int64_t>, std::string> value;

  friend bool operator==(const OperatorAttribute&, const OperatorAttribute&) = default;
};

/// Describes a call of an operator: what a rule is made from.
struct OperatorCall {
  std::string name;  ///< name of the operator: "add", "sum", …
  std::vector<OperatorOperand> operands = {};
  std::vector<OperatorAttribute> attributes = {};
  Extents shape = {};     ///< global shape of the result
  ElementType type = {};  ///< element type of the result

  /// Returns the integers of an attribute. Errors: InvalidArgument if there is no such attribute.
  const std::vector<std::int64_t>& integers(const std::string& attribute) const;
  /// Returns the number of dims of operand `i`. Expects a tensor.
  int tensor_dims(std::size_t i) const { return operands[i].spec->tensor_dims(); }

  friend bool operator==(const OperatorCall&, const OperatorCall&) = default;
};

/// Says in which placements, along one mesh dim, an operator takes its operands, and in which one
/// it gives its result. All shardings of one rule split the same indices: a Shard here stands for
/// the sharding that the operands have, by whatever rule and boundaries, and for Shard if they have
/// none.
///
/// Example: {Shard(0), {Shard(0), Replicate()}} multiplies the rows of a split matrix by a matrix.
struct OperatorRule {
  Placement output;
  std::vector<std::optional<Placement>>
      inputs;  ///< one for each operand; none for what is no tensor

  friend bool operator==(const OperatorRule&, const OperatorRule&) = default;
};

/// Lists the rules of an operator for a call, each for one mesh dim; along every mesh dim one of
/// them is chosen. It must depend on the call alone, so that all ranks choose alike.
using OperatorRules = std::function<std::vector<OperatorRule>(const OperatorCall&)>;

/// Returns the rule as text: "S(0), R -> S(0)".
std::string to_string(const OperatorRule& rule);
/// Returns the call as text: "add of float64 (8, 4) on (2) as S(0) and a number".
std::string to_string(const OperatorCall& call);

}  // namespace tessera
