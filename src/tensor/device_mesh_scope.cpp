// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tessera/error/error.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>

namespace tessera {

namespace {
thread_local std::vector<DeviceMesh> scopes;
}

DeviceMeshScope::DeviceMeshScope(DeviceMesh mesh) {
  scopes.push_back(std::move(mesh));
}
DeviceMeshScope::~DeviceMeshScope() {
  scopes.pop_back();
}

const DeviceMesh& default_device_mesh(const char* function) {
  require(!scopes.empty(), [&] {
    return std::string(function) +
           ": expected a mesh, or a DeviceMeshScope around the call, got neither";
  });
  return scopes.back();
}

}  // namespace tessera
