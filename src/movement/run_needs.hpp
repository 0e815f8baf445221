// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "plan/needs.hpp"

namespace tessera::detail {

/// Brings to every rank of the mesh what it needs of the tensor `spec`, in a call that the ranks have
/// agreed on. `piece` is this rank's piece of the tensor, `array` that in which the needs have their
/// positions.
void run_needs(const Execution& execution, const DeviceMesh& mesh, const DTensorSpec& spec,
               const std::vector<Needs>& needs, const ArrayRef& piece, const ArrayRef& array,
               const PlanSettings& settings, const char* label);

}  // namespace tessera::detail
