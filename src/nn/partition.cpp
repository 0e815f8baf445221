// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <tessera/nn/partition.hpp>

namespace tessera {

namespace {

std::size_t dims_of_weight(const std::vector<nn::ParameterInfo>& parameters) {
  const auto found = std::ranges::find(parameters, "weight", &nn::ParameterInfo::name);
  return found == parameters.end() ? 0 : found->shape.size();
}

void place_along(nn::Module& module, std::string_view parameter, const DeviceMesh& mesh,
                 int mesh_dim, const Placement& placement) {
  std::vector<Placement> placements(static_cast<std::size_t>(mesh.ndim()), Replicate());
  placements[static_cast<std::size_t>(mesh_dim)] = placement;
  module.place(parameter, Target(placements));
}

/// Splits the weight in one of its dims.
void split_layer(const char* function, nn::Module& module, const DeviceMesh& mesh,
                 const MeshDim& mesh_dim, int tensor_dim, const Placement& of_bias) {
  detail::named(function, [&] {
    const int along = mesh.layout().index(mesh_dim);
    const auto parameters = module.parameters();
    require(dims_of_weight(parameters) > static_cast<std::size_t>(tensor_dim), [&] {
      return fmt::format(
          "expected a module with a parameter \"weight\" of at least {} {}, got module {}",
          tensor_dim + 1, tensor_dim == 0 ? "dim" : "dims", module.name());
    });
    place_along(module, "weight", mesh, along, Shard(tensor_dim));
    if (std::ranges::find(parameters, "bias", &nn::ParameterInfo::name) != parameters.end())
      place_along(module, "bias", mesh, along, of_bias);
  });
}

}  // namespace

void nn::column_parallel(Module& module, const DeviceMesh& mesh, const MeshDim& mesh_dim) {
  split_layer("column_parallel", module, mesh, mesh_dim, 0, Shard(0));
}

void nn::row_parallel(Module& module, const DeviceMesh& mesh, const MeshDim& mesh_dim) {
  split_layer("row_parallel", module, mesh, mesh_dim, 1, Replicate());
}

}  // namespace tessera
