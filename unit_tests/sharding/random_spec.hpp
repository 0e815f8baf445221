// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <tessera/sharding/spec.hpp>

namespace tessera::test {

using Generator = std::mt19937;

inline int below(Generator& generator, int n) {
  return static_cast<int>(generator() % static_cast<unsigned>(n));
}

inline Placements random_sharding(Generator& generator, int mesh_dims, int tensor_dims) {
  std::vector<Placement> placements(static_cast<std::size_t>(mesh_dims));
  for (auto& placement : placements) {
    const int kind = below(generator, 6);
    if (kind == 0) placement = Partial();
    if (kind > 1 && tensor_dims > 0) placement = Shard(below(generator, tensor_dims));
  }
  for (auto& placement : placements) {
    if (!placement.is_shard()) continue;
    const int dim = placement.dim();
    const auto shardings = std::count_if(placements.begin(), placements.end(),
                                         [&](const auto& other) { return other.is_shard(dim); });
    const int rule = below(generator, shardings == 1 ? 8 : 4);
    if (rule == 3) placement = Balanced(dim);
    if (rule == 4) placement = HeadTail(dim);
    if (rule > 5) placement = Cyclic(dim, 1 + below(generator, 4));
  }
  std::vector<int> positions(placements.size(), 0);
  for (int dim = 0; dim < tensor_dims; ++dim) {
    std::vector<std::size_t> splitting;
    for (std::size_t d = 0; d < placements.size(); ++d)
      if (placements[d].is_shard(dim)) splitting.push_back(d);
    std::shuffle(splitting.begin(), splitting.end(), generator);
    for (std::size_t k = 0; k < splitting.size(); ++k)
      positions[splitting[k]] = static_cast<int>(k);
  }
  return Placements(std::move(placements), std::move(positions));
}

/// 0 to `last`, cut in `parts`, ascending; some parts may be empty.
inline std::vector<std::int64_t> random_cuts(Generator& generator, std::int64_t last, int parts) {
  std::vector<std::int64_t> cuts{0, last};
  for (int i = 1; i < parts; ++i) cuts.push_back(below(generator, static_cast<int>(last) + 1));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// A spec of up to 3 mesh dims and 3 tensor dims; some tensor dims have boundaries of their own.
inline DTensorSpec random_spec(Generator& generator) {
  std::vector<int> mesh_shape(static_cast<std::size_t>(below(generator, 4)));
  for (auto& size : mesh_shape) size = 1 + below(generator, 4);
  const MeshLayout layout(mesh_shape);
  Extents shape;
  for (int d = below(generator, 4); d > 0; --d) shape.push_back(below(generator, 12));
  const auto placements = random_sharding(generator, layout.ndim(), static_cast<int>(shape.size()));
  const DTensorSpec chunked(layout, placements, shape);
  Boundaries boundaries(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (chunked.split(d).rules.empty() && below(generator, 3) == 0)
      boundaries[d] = random_cuts(generator, shape[d], chunked.split(d).parts());
  return DTensorSpec(layout, placements, shape, boundaries);
}

}  // namespace tessera::test
