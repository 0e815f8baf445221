// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/movement/shift.hpp>

#include "movement/run_needs.hpp"

namespace tessera::detail {

void shift_pieces(const Execution& execution, const DeviceMesh& line, const DTensorSpec& spec,
                  int distance, bool is_periodic, const ArrayRef& view, const ArrayRef& result,
                  const PlanSettings& settings) {
  std::vector<Needs> needs;
  for (int rank = 0; rank < line.size(); ++rank) {
    auto& needed = needs.emplace_back();
    const auto from = line.layout().neighbour(rank, 0, -distance, is_periodic);
    if (!from) continue;
    const Box box{spec.global_offset(*from), spec.local_shape(*from)};
    if (!box.is_empty()) needed = needs_of(box, spec.shape());
  }
  run_needs(execution, line, spec, needs, view, result, settings, "tessera::shift");
}

}  // namespace tessera::detail
