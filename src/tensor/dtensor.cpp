// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <fmt/format.h>

#include <tessera/tensor/deep_copy.hpp>

#include "placement/can_reduce.hpp"
#include "tensor/overlap.hpp"

namespace tessera::detail {

Box local_piece(const DeviceMesh& mesh, const DTensorSpec& spec) {
  if (!mesh.is_null() && mesh.coordinate()) return spec.piece(*mesh.coordinate());
  return {spec.shape(), Extents::filled(spec.shape().size(), 0)};
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
  require(destination == source, [&] {
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

std::int64_t extent_of(const Extents& shape, int tensor_dim) {
  const int count = static_cast<int>(shape.size());
  const int dim = tensor_dim < 0 ? tensor_dim + count : tensor_dim;
  require(0 <= dim && dim < count, [&] {
    return fmt::format("extent: expected a dim of a {}-d tensor, got {}", count, tensor_dim);
  });
  return shape[static_cast<std::size_t>(dim)];
}

std::string describe_tensor(const DeviceMesh& mesh, const DTensorSpec& spec, ElementType type,
                            const Box& piece) {
  if (mesh.is_null()) return fmt::format("{} tensor without a mesh", to_string(type));
  const auto here = mesh.coordinate() ? fmt::format("here {} at {}", to_string(piece.shape),
                                                    to_string(piece.offset))
                                      : std::string("this rank is off the mesh");
  return fmt::format("{} {}, {}", to_string(type), to_string(spec), here);
}

void write(std::ostream& out, const std::string& text) {
  out << text;
}

}  // namespace tessera::detail
