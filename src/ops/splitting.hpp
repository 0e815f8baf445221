// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// Lists the mesh dims along which several ranks hold parts of one of these dims of the tensor.
inline std::vector<std::size_t> splitting_mesh_dims(const DTensorSpec& spec,
                                                    std::span<const std::int64_t> dims) {
  std::vector<std::size_t> result;
  for (std::size_t m = 0; m < spec.placements().size(); ++m) {
    const auto& placement = spec.placements()[m];
    if (placement.is_shard() && spec.layout().shape()[m] > 1 &&
        std::ranges::find(dims, std::int64_t{placement.dim()}) != dims.end())
      result.push_back(m);
  }
  return result;
}

}  // namespace tessera::detail
