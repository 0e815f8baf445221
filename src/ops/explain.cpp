// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/ops/explain.hpp>

#include "ops/prepared_call.hpp"

namespace tessera::detail {

std::string explain(const CallRequest& request, const char* then) {
  const DTensorSpec* first = nullptr;
  for (const auto& operand : request.operands) {
    if (operand.spec == nullptr) continue;
    if (first == nullptr) first = operand.spec;
    require<MeshMismatch>(operand.spec->layout() == first->layout(), [&] {
      return fmt::format("{}: expected tensors on one mesh, got {} and {}",
                         request.op.function.text, to_string(first->layout()),
                         to_string(operand.spec->layout()));
    });
  }
  const auto call = choose_for(request, current_redistribution());
  const bool goes_on = *then != '\0' && call->choice.output.placements().has_partial();
  return explain(*call) + (goes_on ? std::string("; then ") + then : "");
}

}  // namespace tessera::detail
