// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "engine/execute.hpp"

namespace tessera::detail {

namespace {

/// The block by which the phase leaves the rank's piece as a whole where it is, in one box; null if
/// it does not.
const Block* kept_block(const Phase& phase, int mesh_rank) {
  for (const auto& block : phase.receive)
    if (block.peer == mesh_rank && block.shape == phase.source.shape() &&
        is_one_box(phase.receive, block))
      return &block;
  return nullptr;
}

std::size_t phases_after(const std::vector<Step>& steps, const PhaseNumber& number) {
  std::size_t result = steps[number.step].phases.size() - number.phase - 1;
  for (auto s = number.step + 1; s < steps.size(); ++s) result += steps[s].phases.size();
  return result;
}

/// The part of the destination in which the phase before the last one puts its result, as the last
/// one leaves it there; null if it does not.
const Block* part_for_last_but_one(const BoundPlan& bound, const PhaseNumber& number,
                                   int mesh_rank) {
  if (phases_after(bound.steps, number) != 1 || !bound.is_plain()) return nullptr;
  return kept_block(bound.steps.back().phases.back(), mesh_rank);
}

/// The result of the phase is a part of the destination.
bool lies_in_destination(const BoundPlan& bound, const PhaseNumber& number, int mesh_rank) {
  return phases_after(bound.steps, number) == 0 ||
         part_for_last_but_one(bound, number, mesh_rank) != nullptr;
}

}  // namespace

bool are_alike(const ArrayRef& a, const ArrayRef& b) {
  return a.type == b.type && a.extents == b.extents && a.strides == b.strides && a.space == b.space;
}

/// Scratch is kept: huge pages pay sooner than for results.
static constexpr std::int64_t least_huge_scratch = 64 << 10;

template <class Bytes>
static std::byte* grown(ViewHolder<Bytes>& buffer, std::int64_t bytes) {
  constexpr bool is_host = std::is_same_v<typename Bytes::memory_space, Kokkos::HostSpace>;
  const bool is_huge = is_host && bytes >= least_huge_scratch;
  const auto alignment = is_huge ? huge_page_bytes : aligned_bytes(1);
  const auto size = (bytes + alignment - 1) / alignment * alignment + alignment;
  if (static_cast<std::int64_t>(buffer.get().size()) < size) {
    buffer = ViewHolder<Bytes>();
    buffer = ViewHolder(allocate_as<Bytes>({size}, "tessera::scratch"));
    if (is_huge) renew_as_huge_pages(buffer.get().data(), buffer.get().size());
  }
  auto* const data = buffer.get().data();
  const auto rest = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data)) % alignment;
  return data + (alignment - rest) % alignment;
}

std::byte* ScratchBuffer::reserve(std::int64_t bytes, MemorySpace space) {
  return space == MemorySpace::host ? grown(host_, bytes) : grown(device_, bytes);
}

std::byte* ScratchBuffer::reserve_pinned(std::int64_t bytes) {
  return grown(pinned_, bytes);
}

void Scratch::hand_over(const Execution& execution) {
  // Without an instance, all has been waited for; that of the last user may be no more.
  if (execution.is_given() && user.get().is_given() && user.get() != execution)
    user.get().fence("tessera::redistribute: before scratch is used by another instance");
  user = ViewHolder<Execution>(execution);
}

void prepare_destination(const Execution& execution, const Movement& movement,
                         const ArrayRef& destination) {
  const bool is_off_mesh = destination.data == nullptr;
  if (movement.partial_target && !is_off_mesh)
    fill_identity(execution, movement.partial_target->op, destination);
}

void complete_destination(const Execution& execution, const Movement& movement,
                          const std::vector<Step>& steps, const ArrayRef& destination) {
  if (!movement.partial_target || movement.partial_target->scale == 1) return;
  const auto& phase = steps.back().phases.back();
  for (std::size_t i = 0; i < phase.receive.size();
       i += static_cast<std::size_t>(phase.contributions)) {
    const auto arrays = block_in(destination, phase.receive, phase.receive[i], BlockSide::to,
                                 WireOrder::last_dim_fastest);
    for (std::size_t k = 0; k < arrays.size(); ++k)
      scale(execution, arrays[k], movement.partial_target->scale);
  }
}

ArrayRef result_of_phase(const BoundPlan& bound, const PhaseNumber& number, int mesh_rank,
                         std::byte*& free) {
  if (phases_after(bound.steps, number) == 0) return bound.destination;
  if (const auto* const kept = part_for_last_but_one(bound, number, mesh_rank))
    return block_in(bound.destination, bound.steps.back().phases.back().receive, *kept,
                    BlockSide::to, WireOrder::last_dim_fastest)
        .first();
  const auto array = row_major(free, bound.movement.type,
                               number.of(bound.steps).destination.shape(), bound.destination.space);
  free += aligned_bytes(array.bytes());
  return array;
}

std::int64_t intermediate_bytes(std::span<const BoundPlan> plans, const PhaseNumber& number,
                                int mesh_rank) {
  std::int64_t bytes = 0;
  for (const auto& bound : plans)
    if (!lies_in_destination(bound, number, mesh_rank))
      bytes += aligned_bytes(number.of(bound.steps).destination.size() * bound.movement.type.size);
  return bytes;
}

}  // namespace tessera::detail
