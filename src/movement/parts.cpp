// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/movement/detail/parts.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/sharding/detail/shapes.hpp>

namespace tessera::detail {

TensorPart part_along(const DeviceMesh& mesh, const DTensorSpec& spec, const ArrayRef& piece,
                      int tensor_dim, Interval range) {
  std::vector<SlicedDim> dims;
  for (const auto extent : spec.shape()) dims.push_back({{0, extent}});
  dims[static_cast<std::size_t>(tensor_dim)].range = range;
  TensorPart part{sliced_spec(spec, dims), piece};
  if (mesh.coordinate()) {
    const auto place = slice_of_piece(spec, dims, *mesh.coordinate());
    part.array = piece.part(place.offset, place.shape);
  }
  return part;
}

namespace {

/// Holds what this rank moves: nothing off the mesh.
struct BoundParts {
  std::vector<Redistributor> redistributors;
  std::vector<Pieces> pieces;
};

BoundParts agreed_parts(Operation& operation, const DeviceMesh& mesh, const PartMoves& parts) {
  std::uint64_t hash = parts.moves.size();
  for (const auto& [from, to] : parts.moves)
    hash = hash_combine(hash, plan_hash(from.spec, to.spec, to.array.type, parts.settings));
  operation.agree(hash, parts.words);
  BoundParts bound;
  if (!mesh.coordinate()) return bound;
  for (const auto& [from, to] : parts.moves) {
    bound.redistributors.push_back(
        cached_redistributor(mesh, from.spec, to.spec, to.array.type, parts.settings));
    bound.pieces.push_back({from.array, to.array});
  }
  return bound;
}

}  // namespace

void move_parts(Operation& operation, const Execution& execution, const DeviceMesh& mesh,
                const PartMoves& parts) {
  const auto [redistributors, pieces] = agreed_parts(operation, mesh, parts);
  if (!pieces.empty()) run_together(execution, redistributors, pieces, parts.label);
}

std::optional<PendingWork> work_of_parts(Operation& operation, const Execution& execution,
                                         const DeviceMesh& mesh, const PartMoves& parts) {
  const auto [redistributors, pieces] = agreed_parts(operation, mesh, parts);
  if (pieces.empty()) return {};
  PendingWork work{{}, execution, parts.views, parts.label};
  for (std::size_t i = 0; i < pieces.size(); ++i)
    work.moves.push_back(RedistributorAccess::move(redistributors[i], pieces[i]));
  return work;
}

}  // namespace tessera::detail
