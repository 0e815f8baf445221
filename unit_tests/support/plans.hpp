// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/plan/plan.hpp>

namespace tessera::test {

/// Returns the number of elements that a rank receives from other ranks.
inline std::int64_t received_elements(const RedistributePlan& plan, int rank) {
  std::int64_t elements = 0;
  for (const auto& step : plan.steps(rank))
    for (const auto& phase : step.phases)
      for (const auto& block : phase.receive)
        if (block.peer != rank) elements += block.size();
  return elements;
}

}  // namespace tessera::test
