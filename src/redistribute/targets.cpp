// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// The targets to which full_tensor(), gather_to() and reduce_partial() redistribute.
#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/redistribute/redistribute.hpp>

namespace tessera::detail {

Placements reduced_placements(const Placements& placements) {
  std::vector<Placement> result(placements.begin(), placements.end());
  for (auto& placement : result)
    if (placement.is_partial()) placement = Replicate();
  return Placements(std::move(result), placements.split_positions());
}

DTensorSpec replicated(const MeshLayout& layout, const Extents& shape) {
  return DTensorSpec(layout, Target(all_replicate).placements(layout.ndim()), shape);
}

DTensorSpec spec_on_one_rank(const MeshLayout& layout, const Extents& shape, int owner) {
  // Parts before the owner's are [0, 0), its part is everything, and those after it are [n, n).
  Boundaries boundaries(shape.size());
  boundaries.front().assign(static_cast<std::size_t>(layout.size()) + 1, shape[0]);
  for (int part = 0; part <= owner; ++part) boundaries.front()[static_cast<std::size_t>(part)] = 0;
  const std::vector<Placement> placements(static_cast<std::size_t>(layout.ndim()), Shard(0));
  if (placements.empty()) boundaries.front().clear();
  return DTensorSpec(layout, placements, shape, std::move(boundaries));
}

void require_mesh_rank(const DeviceMesh& mesh, int mesh_rank) {
  require(0 <= mesh_rank && mesh_rank < mesh.size(), [&] {
    return fmt::format("expected a rank of mesh {}, 0 to {}, got {}", to_string(mesh),
                       mesh.size() - 1, mesh_rank);
  });
}

}  // namespace tessera::detail
