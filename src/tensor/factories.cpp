// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/tensor/factories.hpp>

namespace tessera::detail {

DTensorSpec factory_spec(const DeviceMesh& mesh, const Placements& placements, const Extents& shape,
                         const Extents& static_extents, ElementType type, const char* function) {
  DTensorSpec spec(mesh.layout(), placements, shape, {}, function);
  require(!placements.has_partial(), [&] {
    return std::string(function) + ": expected Shard and Replicate placements, got " +
           to_string(placements);
  });
  require_representable(spec, static_extents, type, function);
  return spec;
}

}  // namespace tessera::detail
