// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/redistribute/distribute_tensor.hpp>

namespace tessera::detail {

Extents shape_on(const DeviceMesh& mesh, int root, const Extents& mine, const char* operation) {
  std::array<std::int64_t, max_tensor_dims> extents{};
  std::ranges::copy(mine, extents.begin());
  broadcast(mesh.group(), std::as_writable_bytes(std::span(extents)), root, TraceKind::metadata,
            operation);
  return std::span(extents).first(mine.size());
}

Move move_from_root(const DeviceMesh& mesh, int root, const DTensorSpec& target, ArrayRef source,
                    ArrayRef destination, const PlanSettings& settings) {
  const bool is_root = mesh.rank() == root;
  const auto plan = [&](const DTensorSpec& to) {
    return cached_redistributor(mesh, spec_on_one_rank(mesh.layout(), to.shape(), root), to,
                                source.type, settings);
  };
  if (target.shape().size() > 0) {
    if (!is_root) source.extents = Extents::filled(target.shape().size(), 0);
    return {plan(target), source, destination};
  }
  // A tensor without dims: spec_on_one_rank() needs a dim, so its only element travels as a 1-d
  // tensor.
  source.extents = {is_root ? 1 : 0};
  destination.extents = {1};
  source.strides = destination.strides = {1};
  return {plan(replicated(mesh.layout(), {1})), source, destination};
}

void require_distributable(const DeviceMesh& mesh, const Placements& placements, int src_rank) {
  require_mesh_rank(mesh, src_rank);
  require(!placements.has_partial(),
          [&] { return "expected Shard and Replicate placements, got " + to_string(placements); });
}

std::string DistributeCall::operator()() const {
  if (options.each_rank)
    return fmt::format("{} of {} {} as {} on each rank{}", function, to_string(type),
                       to_string(shape), to_string(target, mesh_dims),
                       memory_space_note(on_device));
  return fmt::format("{} of {}-d {} as {} from mesh rank {}{}", function, shape.size(),
                     to_string(type), to_string(target, mesh_dims), options.src_rank,
                     memory_space_note(on_device));
}

std::uint64_t DistributeCall::hash() const {
  auto hash = hash_combine(hash_of(target, mesh_dims), shape.size());
  if (options.each_rank) hash = hash_range(hash, shape);
  hash = hash_combine(hash_combine(hash, type), on_device ? 1 : 0);
  return hash_combine(hash, options.each_rank ? ~0U : static_cast<unsigned>(options.src_rank));
}

}  // namespace tessera::detail
