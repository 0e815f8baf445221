// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/ops/explain.hpp>

#include "ops/prepared_call.hpp"

namespace tessera::detail {

std::string explain(const CallRequest& request) {
  try {
    return explain(*choose_for(request, current_redistribution()));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tessera::detail
