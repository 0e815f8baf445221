// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>
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

/// Returns the mesh that `make` returns, made once per name. It is released before Kokkos ends,
/// because Views that its plans keep could not be freed later.
inline DeviceMesh kept_mesh(const std::string& name, const std::function<DeviceMesh()>& make) {
  static std::map<std::string, DeviceMesh> meshes;
  if (meshes.empty()) Kokkos::push_finalize_hook([] { meshes.clear(); });
  auto& mesh = meshes[name];
  if (mesh.is_null()) mesh = make();
  return mesh;
}

/// Returns the mesh of the first ranks of MPI_COMM_WORLD, kept per shape and names; a null handle
/// if there are not enough ranks.
inline DeviceMesh mesh_of(const std::vector<int>& shape,
                          const std::vector<std::string>& names = {}) {
  if (std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>()) > world_size()) return {};
  std::string name;
  for (const int size : shape) name += std::to_string(size) + ' ';
  for (const auto& dim : names) name += dim + ' ';
  return kept_mesh(name, [&] { return init_device_mesh(MPI_COMM_WORLD, shape, names); });
}

/// Returns the meshes of these shapes for which there are enough ranks.
inline std::vector<DeviceMesh> meshes_of(const std::vector<std::vector<int>>& shapes) {
  std::vector<DeviceMesh> result;
  for (const auto& shape : shapes)
    if (const auto mesh = mesh_of(shape); !mesh.is_null()) result.push_back(mesh);
  return result;
}

/// Returns whether this rank is on the mesh.
inline bool is_on(const DeviceMesh& mesh) {
  return mesh.coordinate().has_value();
}

}  // namespace tessera::test
