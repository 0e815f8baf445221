// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <tessera/grad/detail/adjoints.hpp>

namespace tessera::detail {

DTensorSpec with_dims(const DTensorSpec& spec, std::span<const std::int64_t> dims) {
  Extents shape;
  Boundaries boundaries;
  std::vector<int> moved;  // dim of the result by dim of `spec`
  const auto ndims = spec.shape().size() + dims.size();
  for (std::size_t d = 0, from = 0; d < ndims; ++d) {
    const bool is_new = std::ranges::find(dims, static_cast<std::int64_t>(d)) != dims.end();
    shape.push_back(is_new ? 1 : spec.shape()[from]);
    if (!spec.boundaries().empty())
      boundaries.push_back(is_new ? std::vector<std::int64_t>() : spec.boundaries()[from]);
    if (is_new) continue;
    moved.push_back(static_cast<int>(d));
    ++from;
  }
  std::vector<Placement> placements;
  std::vector<int> positions;
  for (std::size_t m = 0; m < spec.placements().size(); ++m) {
    const auto& placement = spec.placements()[m];
    const bool is_split = placement.is_shard();
    placements.push_back(is_split
                             ? placement.with_dim(moved[static_cast<std::size_t>(placement.dim())])
                             : placement);
    positions.push_back(is_split ? spec.placements().split_position(static_cast<int>(m)) : 0);
  }
  return make_spec(spec.layout(), Placements(placements, positions), shape, boundaries);
}

}  // namespace tessera::detail
