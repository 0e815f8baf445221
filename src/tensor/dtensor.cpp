// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <fmt/format.h>

#include <tessera/tensor/deep_copy.hpp>

#include "placement/can_reduce.hpp"
#include "tensor/overlap.hpp"

namespace tessera::detail {

Extents local_extents(const DeviceMesh& mesh, const DTensorSpec& spec) {
  auto result = Extents::filled(spec.shape().size(), 0);
  if (mesh.is_null() || !mesh.coordinate()) return result;
  for (std::size_t d = 0; d < result.size(); ++d)
    result[d] = spec.split(d).size(*mesh.coordinate());
  return result;
}

Box local_box(const DeviceMesh& mesh, const DTensorSpec& spec) {
  const bool has_offset = !mesh.is_null() && mesh.coordinate() && spec.has_boxes();
  if (has_offset) return spec.piece(*mesh.coordinate());
  return {spec.shape(), local_extents(mesh, spec)};
}

void require_representable(const DTensorSpec& spec, const Extents& static_extents,
                           ElementType type) {
  require(spec.shape().size() == static_extents.size(), [&] {
    return fmt::format("expected a shape of {} dims, that of the View, got {}",
                       static_extents.size(), to_string(spec.shape()));
  });
  for (std::size_t d = 0; d < static_extents.size(); ++d) {
    if (static_extents[d] == 0) continue;
    require(spec.shape()[d] == static_extents[d], [&] {
      return fmt::format(
          "expected extent {} in tensor dim {}, the View's static extent, got shape {}",
          static_extents[d], d, to_string(spec.shape()));
    });
    require(spec.split(d).parts() == 1, [&] {
      return fmt::format(
          "expected tensor dim {} whole on every rank, as the View's extent {} is static, got {}",
          d, static_extents[d], to_string(spec.placements()));
    });
  }
  for (const auto& placement : spec.placements())
    if (placement.is_partial()) require_reducible(placement.op(), type);
}

void require_same_pieces(const DeviceMesh& mesh, const DTensorSpec& destination,
                         const DeviceMesh& source_mesh, const DTensorSpec& source) {
  require<MeshMismatch>(mesh == source_mesh, [&] {
    const auto [a, b] = told_apart(mesh, source_mesh);
    return fmt::format("expected tensors on one mesh, got meshes {} and {}", a, b);
  });
  require(agree_but_for_rules(destination, source), [&] {
    return fmt::format("expected tensors of one spec (see redistribute_into), got {} and {}",
                       to_string(destination), to_string(source));
  });
}

void require_same_or_separate(const ArrayRef& destination, const ArrayRef& source) {
  const bool are_same = destination.data == source.data && destination.strides == source.strides;
  require(are_same || !share_memory(destination, source), [] {
    return "expected tensors that share no memory, or one tensor twice, got Views that overlap";
  });
}

int dim_of(const Extents& shape, int tensor_dim) {
  const int count = static_cast<int>(shape.size());
  const int dim = tensor_dim < 0 ? tensor_dim + count : tensor_dim;
  require(0 <= dim && dim < count, [&] {
    return fmt::format("expected a dim of a {}-d tensor, got {}", count, tensor_dim);
  });
  return dim;
}

void require_offset(const DTensorSpec& spec) {
  named("global_offset", [&] { require_boxes(spec); });
}

std::int64_t extent_of(const Extents& shape, int tensor_dim) {
  return named("extent",
               [&] { return shape[static_cast<std::size_t>(dim_of(shape, tensor_dim))]; });
}

std::int64_t global_index(const DeviceMesh& mesh, const DTensorSpec& spec, int tensor_dim,
                          std::int64_t local) {
  return named("global_index", [&] {
    const int dim = dim_of(spec.shape(), tensor_dim);
    require(!mesh.is_null() && mesh.coordinate(), [&] {
      return fmt::format("expected a rank of the tensor's mesh for local index {}", local);
    });
    return spec.global_index(mesh.rank(), dim, local);
  });
}

std::optional<std::int64_t> local_index(const DeviceMesh& mesh, const DTensorSpec& spec,
                                        int tensor_dim, std::int64_t global) {
  return named("local_index", [&]() -> std::optional<std::int64_t> {
    const int dim = dim_of(spec.shape(), tensor_dim);
    if (mesh.is_null() || !mesh.coordinate()) return {};
    return spec.local_index(mesh.rank(), dim, global);
  });
}

std::string describe_tensor(const DeviceMesh& mesh, const DTensorSpec& spec, ElementType type) {
  if (mesh.is_null()) return fmt::format("{} tensor without a mesh", to_string(type));
  std::string here = "this rank is off the mesh";
  if (mesh.coordinate()) {
    const auto place = spec.has_boxes() ? to_string(spec.piece(*mesh.coordinate()).offset)
                                        : to_string(spec.sections(*mesh.coordinate()));
    here = fmt::format("here {} at {}", to_string(local_extents(mesh, spec)), place);
  }
  return fmt::format("{} {}, {}", to_string(type), to_string(spec), here);
}

void write(std::ostream& out, const std::string& text) {
  out << text;
}

void require_one_per_dim(const std::array<bool, max_tensor_dims>& given, std::size_t dims) {
  std::size_t number = 0;
  bool follows = true;  // no argument behind one that is missing
  for (std::size_t d = 0; d < given.size(); ++d) {
    if (given[d]) ++number;
    follows = follows && given[d] == (d < dims);
  }
  require(follows, [&] {
    return fmt::format("expected an argument for each of {} dims, got {}", dims, number);
  });
}

}  // namespace tessera::detail
