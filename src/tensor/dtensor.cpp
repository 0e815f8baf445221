// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/tensor/dtensor.hpp>

#include "placement/can_reduce.hpp"

namespace tessera::detail {

Box local_piece(const DeviceMesh& mesh, const DTensorSpec& spec) {
  if (!mesh.is_null() && mesh.coordinate()) return spec.piece(*mesh.coordinate());
  return {spec.shape(), Extents::filled(spec.shape().size(), 0)};
}

void require_representable(const DTensorSpec& spec, const Extents& static_extents, ElementType type,
                           const char* function) {
  require(spec.shape().size() == static_extents.size(), [&] {
    return fmt::format("{}: expected a shape of {} dims, that of the View, got {}", function,
                       static_extents.size(), to_string(spec.shape()));
  });
  for (std::size_t d = 0; d < static_extents.size(); ++d) {
    if (static_extents[d] == 0) continue;
    require(spec.shape()[d] == static_extents[d], [&] {
      return fmt::format(
          "{}: expected extent {} in tensor dim {}, the View's static extent, got shape {}",
          function, static_extents[d], d, to_string(spec.shape()));
    });
    require(spec.split(d).parts() == 1, [&] {
      return fmt::format(
          "{}: expected tensor dim {} whole on every rank, as the View's extent {} is static, got "
          "{}",
          function, d, static_extents[d], to_string(spec.placements()));
    });
  }
  for (const auto& placement : spec.placements())
    if (placement.is_partial()) require_reducible(function, placement.op(), type);
}

}  // namespace tessera::detail
