// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/ops/explain.hpp>

#include "ops/prepared_call.hpp"

namespace tessera::detail {

std::string explain(const CallRequest& request, const char* then) {
  try {
    const auto call = choose_for(request, current_redistribution());
    const bool goes_on = *then != '\0' && call->choice.output.placements().has_partial();
    return explain(*call) + (goes_on ? std::string("; then ") + then : "");
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tessera::detail
