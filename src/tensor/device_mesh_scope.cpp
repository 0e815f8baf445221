// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <string>

#include <tessera/error/error.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>

namespace tessera {

namespace {
thread_local std::deque<DeviceMesh>
    scopes;  // references to elements stay valid while others come and go
}

DeviceMeshScope::DeviceMeshScope(DeviceMesh mesh) {
  scopes.push_back(std::move(mesh));
}
DeviceMeshScope::~DeviceMeshScope() {
  scopes.pop_back();
}

const DeviceMesh& detail::mesh_of_scope() {
  require(!scopes.empty(), "expected a mesh, or a DeviceMeshScope around the call, got neither");
  return scopes.back();
}

const DeviceMesh& default_device_mesh() {
  return detail::named("default_device_mesh",
                       []() -> const DeviceMesh& { return detail::mesh_of_scope(); });
}

}  // namespace tessera
