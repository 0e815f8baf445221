// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "plan/needs.hpp"
#include "redistribute/executor.hpp"

namespace tessera::detail {

/// Returns an Executor that brings to each rank of the mesh the elements of the tensor `spec` that it
/// needs. `mesh` must outlive it; without `scratch` it must not run by itself.
std::shared_ptr<Executor> executor_of_needs(const DeviceMesh& mesh, const DTensorSpec& spec,
                                            const std::vector<Needs>& needs, ElementType type,
                                            const PlanSettings& settings,
                                            std::shared_ptr<Scratch> scratch);

/// Brings to every rank of the mesh what it needs of the tensor `spec`, in a call that the ranks have
/// agreed on. `piece` is this rank's piece of the tensor, `array` that in which the needs have their
/// positions.
void run_needs(const Execution& execution, const DeviceMesh& mesh, const DTensorSpec& spec,
               const std::vector<Needs>& needs, const ArrayRef& piece, const ArrayRef& array,
               const PlanSettings& settings, const char* label);

}  // namespace tessera::detail
