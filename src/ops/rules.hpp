// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tessera/ops/detail/elementwise_op.hpp>
#include <tessera/ops/rule.hpp>

namespace tessera::detail {

/// Returns the rules of an elementwise operator.
///
/// Operands are aligned at their last dims. A dim of extent 1 that stretches to a longer one is
/// Replicate where the others are split.
std::vector<OperatorRule> elementwise_rules(OnPartial on_partial, const OperatorCall& call);

/// Returns the rules of an operator that reduces the dims of the attribute "dims", and combines what
/// ranks have by `op`. It keeps Partials that are listed in `kept`.
std::vector<OperatorRule> reduction_rules(ReduceOp op, const std::vector<ReduceOp>& kept,
                                          const OperatorCall& call);

/// Returns the Partial of a result of which each rank has its own elements, and 0 elsewhere.
Placement own_elements(ElementKind kind);

}  // namespace tessera::detail
