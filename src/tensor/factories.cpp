// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/tensor/factories.hpp>

namespace tessera::detail {

DTensorSpec factory_spec(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                         const Extents& static_extents, ElementType type) {
  auto spec = target_spec(mesh.layout(), shape, target);
  require(!spec.placements().has_partial(), [&] {
    return "expected Shard and Replicate placements, got " +
           to_string(target.placements(mesh.ndim()));
  });
  require_representable(spec, static_extents, type);
  return spec;
}

}  // namespace tessera::detail
