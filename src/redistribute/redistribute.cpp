// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/redistribute/redistribute_all.hpp>

namespace tessera::detail {

std::string RedistributeAllCall::operator()() const {
  auto text = fmt::format("redistribute_all of {} tensors", calls.size());
  for (const auto& call : calls) text += "; " + call();
  return text;
}

Placements reduced_placements(const Placements& placements) {
  std::vector<Placement> result(placements.begin(), placements.end());
  std::vector<int> positions;
  for (std::size_t d = 0; d < result.size(); ++d) {
    positions.push_back(placements.split_position(static_cast<int>(d)));
    if (result[d].is_partial()) result[d] = Replicate();
  }
  return Placements(std::move(result), std::move(positions));
}

Placements all_replicate(const DeviceMesh& mesh) {
  return std::vector<Placement>(static_cast<std::size_t>(mesh.ndim()), Replicate());
}

DTensorSpec whole_on(const MeshLayout& layout, const Extents& shape, int owner) {
  Boundaries boundaries(shape.size());
  boundaries.front().assign(static_cast<std::size_t>(layout.size()) + 1, shape[0]);
  for (int part = 0; part <= owner; ++part) boundaries.front()[static_cast<std::size_t>(part)] = 0;
  const std::vector<Placement> placements(static_cast<std::size_t>(layout.ndim()), Shard(0));
  if (placements.empty()) boundaries.front().clear();
  return DTensorSpec(layout, placements, shape, std::move(boundaries));
}

void require_mesh_rank(const DeviceMesh& mesh, int mesh_rank, const char* function) {
  require(0 <= mesh_rank && mesh_rank < mesh.size(), [&] {
    return fmt::format("{}: expected a rank of mesh {}, 0 to {}, got {}", function, to_string(mesh),
                       mesh.size() - 1, mesh_rank);
  });
}

}  // namespace tessera::detail
