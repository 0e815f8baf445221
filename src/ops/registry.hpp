// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/ops/detail/call.hpp>

namespace tessera::detail {

/// Returns the rules of an operator for a call: those registered, else its own; and which of both.
/// Errors: InvalidArgument for rules that do not fit the call; the text names the operator.
std::vector<OperatorRule> rules_of(const OperatorInfo& op, const OperatorCall& call,
                                   bool& is_registered);

/// Returns a number that changes when rules are registered.
std::uint64_t registry_generation();

}  // namespace tessera::detail
