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

void move_parts(Operation& operation, const Execution& execution, const DeviceMesh& mesh,
                const std::vector<PartMove>& moves, const PlanSettings& settings,
                const CallText& words, const char* label) {
  std::uint64_t hash = moves.size();
  for (const auto& [from, to] : moves)
    hash = hash_combine(hash, plan_hash(from.spec, to.spec, to.array.type, settings));
  operation.agree(hash, words);
  if (!mesh.coordinate() || moves.empty()) return;
  std::vector<Redistributor> redistributors;
  std::vector<Pieces> pieces;
  for (const auto& [from, to] : moves) {
    redistributors.push_back(
        cached_redistributor(mesh, from.spec, to.spec, to.array.type, settings));
    pieces.push_back({from.array, to.array});
  }
  run_together(execution, redistributors, pieces, label);
}

}  // namespace tessera::detail
