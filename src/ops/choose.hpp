// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For debug: which placements an operator gets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/ops/detail/call.hpp>
#include <tessera/ops/redistribution_scope.hpp>
#include <tessera/ops/rule.hpp>

namespace tessera::detail {

/// Says what happens to an operand before the operator runs.
enum class OperandMove : std::uint8_t {
  none,     ///< It stays.
  slices,   ///< Each rank takes a part of what it holds; nothing travels.
  reduces,  ///< A Partial is reduced; other placements stay, or are sliced.
  moves,    ///< Elements travel for another reason.
};

/// Holds the placements that were chosen for a call.
struct Choice {
  DTensorSpec output = {};
  std::vector<std::optional<DTensorSpec>> inputs =
      {};                                ///< one for each operand; none for what is no tensor
  std::vector<OperandMove> moves = {};   ///< one for each operand
  std::vector<OperatorRule> rules = {};  ///< one for each mesh dim
  std::int64_t bytes = 0;                ///< received by the busiest rank, for all operands
  int exchanges = 0;                     ///< sum over all operands
  /// Say what the operator's own algorithm exchanges; 0 for one that computes on local pieces.
  std::int64_t own_bytes = 0;  ///< received by the busiest rank
  int own_exchanges = 0;

  bool moves_at_all() const;
  /// Returns whether an operand moves that Redistribution::local would leave.
  bool is_implicit() const;
};

/// Chooses placements for a call whose operands are on one mesh: the first of
///   1. all operands stay, with their own placements, by a rule or by an algorithm for the whole mesh, or
///      else with others of the same ownership;
///   2. operands are only sliced;
///   3. fewest bytes received by the busiest rank, for operands and inside the operator, plus 4 KiB per
///      exchange, of what `allowed` permits;
///   4. the rule listed first.
/// None if no combination of rules is permitted. Nothing measured takes part.
std::optional<Choice> choose(const OperatorCall& call, const std::vector<OperatorRule>& rules,
                             Redistribution allowed, const OwnAlgorithm& own = {});

}  // namespace tessera::detail
