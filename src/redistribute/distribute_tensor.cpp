// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <span>

#include <tessera/comm/collectives.hpp>
#include <tessera/redistribute/distribute_tensor.hpp>

namespace tessera::detail {

Extents shape_on(const DeviceMesh& mesh, int root, const Extents& mine, const char* operation) {
  std::array<std::int64_t, max_tensor_dims> extents{};
  std::ranges::copy(mine, extents.begin());
  broadcast(mesh.group(), std::as_writable_bytes(std::span(extents)), root, TraceKind::metadata,
            operation);
  return std::span(extents).first(mine.size());
}

void require_distributable(const DeviceMesh& mesh, const Placements& placements, int src_rank) {
  require_mesh_rank(mesh, src_rank, "distribute_tensor");
  require(!placements.has_partial(), [&] {
    return "distribute_tensor: expected Shard and Replicate placements, got " +
           to_string(placements);
  });
}

}  // namespace tessera::detail
