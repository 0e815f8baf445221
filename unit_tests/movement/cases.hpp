// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"

namespace tessera::test {

/// Names where a matrix is distributed, and how.
struct MatrixCase {
  DeviceMesh mesh;
  Placements placements;
};

/// Lists all rules for matrices: on a line of all ranks, and on a grid of two mesh dims if their number
/// is even.
inline std::vector<MatrixCase> matrix_cases() {
  std::vector<MatrixCase> result;
  const auto line = mesh_of({world_size()});
  for (const auto& rule : {Placement(Shard(0)), Placement(Shard(1)), Placement(Balanced(0)),
                           Placement(Cyclic(0, 2)), Placement(Cyclic(1, 3)), Placement(HeadTail(0)),
                           Placement(HeadTail(1)), Placement(Replicate())})
    result.push_back({line, {rule}});
  if (world_size() % 2 != 0) return result;
  const auto grid = mesh_of({2, world_size() / 2});
  for (const auto& placements : std::vector<Placements>{{Cyclic(0, 2), Cyclic(1, 3)},
                                                        {Shard(0), Shard(0)},
                                                        {Balanced(1), HeadTail(0)},
                                                        {Replicate(), Shard(1)}})
    result.push_back({grid, placements});
  return result;
}

}  // namespace tessera::test
