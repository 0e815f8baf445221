// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For debug: visits the cells of a sharding.
#pragma once

#include <cstddef>
#include <vector>

#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

constexpr std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Calls visit(box) for every combination of one part of `cells` per tensor dim that meets `range`,
/// with `coordinate` set to the coordinates of these parts.
template <class Visit>
void for_each_cell(const DTensorSpec& cells, const Box& range, const std::vector<int>& fixed,
                   std::vector<int>& coordinate, const Visit& visit) {
  std::vector<std::vector<Part>> parts;
  for (std::size_t d = 0; d < range.shape.size(); ++d)
    parts.push_back(parts_meeting(cells.split(d), range.interval(d), fixed));
  Box box = range;
  const auto choose = [&](const auto& self, std::size_t d) -> void {
    if (d == parts.size()) return visit(box);
    for (const auto& part : parts[d]) {
      const auto common = intersect(part.interval, range.interval(d));
      box.offset[d] = common.begin;
      box.shape[d] = common.size();
      for (std::size_t k = 0; k < part.coordinate.size(); ++k)
        coordinate[at(cells.split(d).mesh_dims[k])] = part.coordinate[k];
      self(self, d + 1);
    }
  };
  choose(choose, 0);
}

/// Calls visit(position) for every coordinate of `mesh_dims`, row-major.
template <class Visit>
void for_each_coordinate(const MeshLayout& layout, const std::vector<int>& mesh_dims,
                         std::vector<int>& coordinate, const Visit& visit) {
  int position = 0;
  const auto choose = [&](const auto& self, std::size_t k) -> void {
    if (k == mesh_dims.size()) return visit(position++);
    for (int i = 0; i < layout.shape()[at(mesh_dims[k])]; ++i) {
      coordinate[at(mesh_dims[k])] = i;
      self(self, k + 1);
    }
  };
  choose(choose, 0);
}

}  // namespace tessera::detail
