// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/mesh/mesh_layout.hpp>
#include <tessera/placement/placements.hpp>

namespace tessera {

/// Makes placements from the tensor's point of view: for each tensor dim, the mesh dims (names or
/// indices) that split it, first split first.
///
/// Mesh dims that appear in no list are Replicate, unless `partials` names them.
/// Example: by_dim(mesh, {{"dp", "tp"}, {}}) on a mesh (dp, tp) is {Shard(0), Shard(0)} of a 2-d
/// tensor. Errors: InvalidArgument for an unknown mesh dim or one used twice. There is one list for
/// each tensor dim; a function that gets the placements for a tensor with another number of dims
/// throws InvalidArgument.
Placements by_dim(const MeshLayout& layout, const std::vector<std::vector<MeshDim>>& mesh_dims,
                  const std::vector<std::pair<MeshDim, Partial>>& partials = {});

/// Takes the layout of `mesh`.
inline Placements by_dim(const DeviceMesh& mesh, const std::vector<std::vector<MeshDim>>& mesh_dims,
                         const std::vector<std::pair<MeshDim, Partial>>& partials = {}) {
  return by_dim(mesh.layout(), mesh_dims, partials);
}

}  // namespace tessera
