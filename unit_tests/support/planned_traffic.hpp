// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ostream>

#include <tessera/plan/plan.hpp>

#include "traffic.hpp"

namespace tessera::test {

/// Describes what one rank moves, as a plan says or a trace counts.
struct Moved {
  int exchanges = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;

  friend bool operator==(const Moved&, const Moved&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Moved& moved) {
    return out << moved.exchanges << " exchanges, " << moved.bytes_sent << " bytes sent, "
               << moved.bytes_received << " received";
  }
};

/// Returns what a rank moves by the steps of the plan. A `mesh_rank` of -1 is off the mesh.
inline Moved planned(const RedistributePlan& plan, int mesh_rank) {
  Moved result;
  if (mesh_rank < 0) return result;
  const auto bytes_of = [&](const Blocks& blocks) {
    std::int64_t bytes = 0;
    for (const auto& block : blocks)
      if (block.peer != mesh_rank) bytes += block.size() * plan.element_type().size;
    return bytes;
  };
  for (const auto& step : plan.steps(mesh_rank)) {
    result.exchanges += step.communicates ? 1 : 0;
    for (const auto& phase : step.phases) {
      result.bytes_sent += bytes_of(phase.send);
      result.bytes_received += bytes_of(phase.receive);
    }
  }
  return result;
}

inline Moved moved(const Traffic& traffic) {
  return {traffic.exchanges(), traffic.bytes_sent(), traffic.bytes_received()};
}

}  // namespace tessera::test
