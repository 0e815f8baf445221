// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tessera/redistribute/detail/plan_cache.hpp>

#include "movement/run_needs.hpp"
#include "redistribute/executor.hpp"

namespace tessera::detail {

void run_needs(const Execution& execution, const DeviceMesh& mesh, const DTensorSpec& spec,
               const std::vector<Needs>& needs, const ArrayRef& piece, const ArrayRef& array,
               const PlanSettings& settings, const char* label) {
  auto plan = plan_to_needs(spec, needs, mesh.rank(), array.type, settings);
  auto scratch = take_scratch(mesh);
  Executor executor(plan.movement, {std::move(plan.step)}, mesh.group(), scratch);
  executor.run(execution, executor.bound(piece, array), label);
  give_back(mesh, std::move(scratch));
}

}  // namespace tessera::detail
