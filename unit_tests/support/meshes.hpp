// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include <tessera/mesh/device_mesh.hpp>

namespace tessera::test {

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// The mesh of the first ranks of MPI_COMM_WORLD, made once per shape and names; a null handle
/// where there are not enough of them.
inline DeviceMesh mesh_of(const std::vector<int>& shape,
                          const std::vector<std::string>& names = {}) {
  static std::map<std::pair<std::vector<int>, std::vector<std::string>>, DeviceMesh> meshes;
  if (std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>()) > world_size()) return {};
  const auto [entry, is_new] = meshes.try_emplace({shape, names});
  if (is_new) entry->second = init_device_mesh(MPI_COMM_WORLD, shape, names);
  return entry->second;
}

/// Those of these meshes for which there are enough ranks.
inline std::vector<DeviceMesh> meshes_of(const std::vector<std::vector<int>>& shapes) {
  std::vector<DeviceMesh> result;
  for (const auto& shape : shapes)
    if (const auto mesh = mesh_of(shape); !mesh.is_null()) result.push_back(mesh);
  return result;
}

/// This rank is on the mesh.
inline bool is_on(const DeviceMesh& mesh) {
  return mesh.coordinate().has_value();
}

}  // namespace tessera::test
