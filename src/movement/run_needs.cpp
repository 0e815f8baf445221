// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tessera/redistribute/detail/plan_cache.hpp>

#include "movement/run_needs.hpp"

namespace tessera::detail {

std::shared_ptr<Executor> executor_of_needs(const DeviceMesh& mesh, const DTensorSpec& spec,
                                            const std::vector<Needs>& needs, ElementType type,
                                            const PlanSettings& settings,
                                            std::shared_ptr<Scratch> scratch) {
  auto plan = plan_to_needs(spec, needs, mesh.rank(), type, settings);
  return std::make_shared<Executor>(plan.movement, std::vector{std::move(plan.step)}, mesh.group(),
                                    std::move(scratch));
}

void run_needs(const Execution& execution, const DeviceMesh& mesh, const DTensorSpec& spec,
               const std::vector<Needs>& needs, const ArrayRef& piece, const ArrayRef& array,
               const PlanSettings& settings, const char* label) {
  auto scratch = take_scratch(mesh);
  const auto executor = executor_of_needs(mesh, spec, needs, array.type, settings, scratch);
  executor->run(execution, executor->bound(piece, array), label);
  give_back(mesh, std::move(scratch));
}

}  // namespace tessera::detail
