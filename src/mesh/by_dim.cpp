// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/mesh/by_dim.hpp>

namespace tessera {

Placements by_dim(const MeshLayout& layout, const std::vector<std::vector<MeshDim>>& mesh_dims,
                  const std::vector<std::pair<MeshDim, Partial>>& partials) {
  const auto ndim = static_cast<std::size_t>(layout.ndim());
  std::vector<Placement> placements(ndim);
  std::vector<int> positions(ndim, 0);
  const auto place = [&](const MeshDim& mesh_dim, Placement placement) {
    const auto d = static_cast<std::size_t>(layout.index(mesh_dim));
    require(placements[d].is_replicate(), [&] {
      return fmt::format("by_dim: expected each dim of mesh {} at most once, got dim {} twice",
                         to_string(layout), d);
    });
    placements[d] = placement;
    return d;
  };
  for (std::size_t dim = 0; dim < mesh_dims.size(); ++dim)
    for (std::size_t k = 0; k < mesh_dims[dim].size(); ++k)
      positions[place(mesh_dims[dim][k], Shard(static_cast<int>(dim)))] = static_cast<int>(k);
  for (const auto& [mesh_dim, partial] : partials) place(mesh_dim, partial);
  return Placements(std::move(placements), std::move(positions),
                    static_cast<int>(mesh_dims.size()));
}

}  // namespace tessera
