// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/plan/options.hpp>

namespace tessera {

/// Measures the cost model by which plans are compared, in less than a second, from a few
/// redistributions of host memory. Every rank returns the same model, each number of which is that
/// of the slowest rank. Later plans of redistribute() on this mesh use it; a plan of make_plan()
/// uses it if PlanOptions::cost_model is set to it.
///
/// Collective over the mesh. On a mesh of one rank, or off the mesh, it returns the built-in model.
CostModel calibrate(const DeviceMesh& mesh);

}  // namespace tessera
