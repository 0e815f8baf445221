// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/plan/options.hpp>

namespace tessera {

/// Measures what plans are compared by, in less than a second, from a few redistributions of host
/// memory; the same on every rank, that of the slowest. Later plans of redistribute() on this mesh
/// are made by it, unless their options have a cost model of their own.
///
/// Collective over the mesh. A mesh of one rank, or off the mesh: the built-in model.
CostModel calibrate(const DeviceMesh& mesh);

}  // namespace tessera
