// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/mesh/device_mesh.hpp>

namespace tessera {

/// Makes `mesh` the default of factories, from_local and distribute_tensor on this thread while it
/// lives. Scopes nest.
class DeviceMeshScope {
 public:
  explicit DeviceMeshScope(DeviceMesh mesh);
  ~DeviceMeshScope();
  DeviceMeshScope(const DeviceMeshScope&) = delete;
  DeviceMeshScope& operator=(const DeviceMeshScope&) = delete;
};

/// Returns the mesh of the innermost scope. Errors: InvalidArgument outside any scope.
const DeviceMesh& default_device_mesh();

namespace detail {

/// Returns default_device_mesh(). Its error names no function; named() of the caller does.
const DeviceMesh& mesh_of_scope();

}  // namespace detail

}  // namespace tessera
