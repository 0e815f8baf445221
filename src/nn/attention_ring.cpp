// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include <tessera/tensor/detail/launch.hpp>

#include "nn/attention_kernel.hpp"
#include "nn/attention_ring.hpp"
#include "nn/tuning.hpp"
#include "plan/needs.hpp"

namespace tessera::detail {
namespace {

/// Holds the rings of a mesh.
struct KeyRings {
  std::vector<std::unique_ptr<KeyRing>> rings;
};

std::vector<BoundPlan> bound_moves(KeyRing& ring, const std::vector<BlockExchange::Move>& moves) {
  std::vector<BoundPlan> plans;
  for (const auto& move : moves)
    plans.push_back(ring.executor(move.from, move.to).bound(move.source, move.destination));
  return plans;
}

}  // namespace

KeyRing::KeyRing(const DeviceMesh& mesh, const DTensorSpec& keys, const DTensorSpec& values,
                 ElementType type, MemorySpace space)
    : keys_(keys),
      values_(values),
      type_(type),
      space_(space),
      size_(keys.split(sequence_dim).parts()),
      rank_(mesh.rank()),
      group_(mesh.group()) {}

bool KeyRing::is_for(const DTensorSpec& keys, const DTensorSpec& values, ElementType type,
                     MemorySpace space) const {
  return keys_ == keys && values_ == values && type_ == type && space_ == space;
}

int KeyRing::part_of(const std::vector<int>& coordinate, int step) const {
  const auto part = (keys_.split(sequence_dim).number(coordinate) + step) % size_;
  return part < 0 ? part + size_ : part;
}

Sections KeyRing::sections(int step) const {
  return keys_.split(sequence_dim).part(part_of(keys_.layout().coordinate(rank_), step));
}

/// Returns the number of elements of the block that a rank has at a step.
std::int64_t KeyRing::elements(int mesh_rank, int step) const {
  const auto coordinate = keys_.layout().coordinate(mesh_rank);
  const auto shape = keys_.local_shape(mesh_rank);
  const auto length = keys_.split(sequence_dim).part(part_of(coordinate, step)).extent();
  return shape[0] * shape[1] * length * (keys_.shape()[column_dim] + values_.shape()[column_dim]);
}

/// Returns the mesh rank that is `distance` after another one in its ring.
int KeyRing::owner(int mesh_rank, int distance) const {
  auto coordinate = keys_.layout().coordinate(mesh_rank);
  const auto& split = keys_.split(sequence_dim);
  const auto part = part_of(coordinate, distance);
  for (std::size_t k = 0; k < split.mesh_dims.size(); ++k)
    coordinate[static_cast<std::size_t>(split.mesh_dims[k])] = split.coordinate(part, k);
  return keys_.layout().mesh_rank(coordinate);
}

OwnedArray KeyRing::allocate() const {
  std::int64_t most = 0;
  for (int step = 0; step < size_; ++step) most = std::max(most, elements(rank_, step));
  return allocate_array(type_, {most}, space_, attention_label);
}

KeyBlock KeyRing::block(int step, const OwnedArray& memory) const {
  auto shape = keys_.local_shape(rank_);
  shape[sequence_dim] = sections(step).extent();
  auto* const data = memory.array.data;
  const auto keys = row_major(data, type_, shape, space_);
  shape[column_dim] = values_.shape()[column_dim];
  const auto values = row_major(data + keys.bytes(), type_, shape, space_);
  return {row_major(data, type_, {keys.size() + values.size()}, space_), keys, values};
}

/// Plans as for a tensor of one dim that has the blocks of all ranks one after another.
Executor& KeyRing::executor(int from, int to) {
  auto& executor = executors_[{from, to}];
  if (executor) return *executor;
  const auto& layout = keys_.layout();
  std::vector<std::int64_t> begin{0};
  for (int rank = 0; rank < layout.size(); ++rank)
    begin.push_back(begin.back() + elements(rank, from));
  const auto spec =
      make_spec(layout, Placements(std::vector<Placement>(layout.shape().size(), Shard(0))),
                {begin.back()}, {begin});
  std::vector<Needs> needs;
  for (int rank = 0; rank < layout.size(); ++rank) {
    auto& needed = needs.emplace_back();
    const auto first = static_cast<std::size_t>(owner(rank, to - from));
    const Box box{{begin[first]}, {begin[first + 1] - begin[first]}};
    if (!box.is_empty()) needed = needs_of(box, spec.shape());
  }
  PlanSettings settings;
  settings.on_device = is_on_device(space_);
  auto plan = plan_to_needs(spec, needs, rank_, type_, settings);
  executor =
      std::make_unique<Executor>(plan.movement, std::vector{std::move(plan.step)}, group_, nullptr);
  return *executor;
}

KeyRing& key_ring(const DeviceMesh& mesh, const DTensorSpec& keys, const DTensorSpec& values,
                  ElementType type, MemorySpace space) {
  auto& rings = MeshAccess::attachment<KeyRings>(mesh).rings;
  for (const auto& ring : rings)
    if (ring->is_for(keys, values, type, space)) return *ring;
  if (rings.size() >= most_key_rings) rings.clear();
  return *rings.emplace_back(std::make_unique<KeyRing>(mesh, keys, values, type, space));
}

BlockExchange::BlockExchange(const Execution& execution, KeyRing& ring,
                             const std::vector<Move>& moves, Scratch& scratch)
    : plans_(bound_moves(ring, moves)),
      run_(execution, plans_, ring.group(), scratch, attention_label) {}

}  // namespace tessera::detail
