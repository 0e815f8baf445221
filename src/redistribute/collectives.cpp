// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/extents/hash.hpp>
#include <tessera/redistribute/collectives.hpp>

namespace tessera::detail {

int resolved_dim(int tensor_dim, std::size_t tensor_dims) {
  const int count = static_cast<int>(tensor_dims);
  const int result = tensor_dim < 0 ? tensor_dim + count : tensor_dim;
  require(0 <= result && result < count,
          [&] { return fmt::format("expected a dim of a {}-d View, got {}", count, tensor_dim); });
  return result;
}

std::string CollectiveCall::operator()() const {
  auto text = fmt::format("{} of {}-d {} with {}{}", function, tensor_dims, to_string(type),
                          arguments, memory_space_note(on_device));
  if (!extents.empty()) text += " of shape " + to_string(extents);
  return text;
}

std::uint64_t CollectiveCall::hash() const {
  const auto hash = hash_combine(hash_combine(tensor_dims, type), on_device ? 1 : 0);
  return hash_range(hash_range(hash, arguments), extents);
}

Placements uniform(const DeviceMesh& mesh, Placement placement) {
  return std::vector<Placement>(static_cast<std::size_t>(mesh.ndim()), placement);
}

MeshDims all_dims_of(const DeviceMesh& mesh) {
  std::vector<MeshDim> dims;
  for (int d = 0; d < mesh.ndim(); ++d) dims.emplace_back(d);
  return MeshDims(dims);
}

DeviceMesh line(const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return mesh_dims.values().size() == 1 ? mesh.sub(mesh_dims) : mesh.flatten(mesh_dims, "line");
}

void require_static_chunks(const Extents& static_extents, int tensor_dim, int ranks) {
  require(static_extents.size() < max_tensor_dims, [&] {
    return fmt::format("expected split_dim other than concat_dim for a View of {} dims",
                       max_tensor_dims);
  });
  const auto extent = static_extents[static_cast<std::size_t>(tensor_dim)];
  require(extent % ranks == 0, [&] {
    return fmt::format("expected a static extent that {} ranks divide, got {}", ranks, extent);
  });
}

ArrayRef with_leading_dim(const ArrayRef& array, std::int64_t extent, std::int64_t stride) {
  auto result = array;
  result.extents = {extent};
  result.strides = {stride};
  for (const auto inner : array.extents) result.extents.push_back(inner);
  for (const auto inner : array.strides) result.strides.push_back(inner);
  return result;
}

std::pair<DTensorSpec, DTensorSpec> chunk_specs(const DeviceMesh& mesh, const DTensorSpec& joined,
                                                int tensor_dim, const Extents& local_shape) {
  const auto d = static_cast<std::size_t>(tensor_dim);
  const bool are_alike =
      joined.boundaries()[d].empty() && joined.shape()[d] == local_shape[d] * mesh.size();
  common([&] {
    require(are_alike, [&] {
      return fmt::format("expected Views of equal extents where split_dim is concat_dim, got {}",
                         to_string(joined));
    });
  });
  Extents shape{mesh.size()};
  for (const auto extent : local_shape) shape.push_back(extent);
  const auto from = make_spec(mesh.layout(), uniform(mesh, Shard(0)), shape);
  return {from, spec_with(from, uniform(mesh, Shard(tensor_dim + 1)))};
}

}  // namespace tessera::detail
