// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/redistribute/detail/execute.hpp>

namespace tessera::detail {

namespace {

constexpr std::int64_t slot_alignment = 64;

std::int64_t slot_bytes(const Box& box, ElementType type) {
  const auto bytes = box.size() * type.size;
  return (bytes + slot_alignment - 1) / slot_alignment * slot_alignment;
}

/// Room for all blocks that travel and, if they change memory space, for this rank's own ones.
std::int64_t scratch_bytes(const Phase& phase, int mesh_rank, ElementType type, bool stages_own) {
  std::int64_t bytes = slot_alignment;
  for (const auto& block : phase.send) bytes += slot_bytes(block.box, type);
  for (const auto& block : phase.receive)
    if (stages_own || block.peer != mesh_rank) bytes += slot_bytes(block.box, type);
  return bytes;
}

std::byte* aligned(std::byte* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return data + (slot_alignment - address % slot_alignment) % slot_alignment;
}

/// The part of `array`, which holds `piece`, where `box` lies.
ArrayRef part(const ArrayRef& array, const Box& piece, const Box& box) {
  Extents offset = box.offset;
  for (std::size_t d = 0; d < offset.size(); ++d) offset[d] -= piece.offset[d];
  return array.part(offset, box.shape);
}

bool is_message_as_it_is(const ArrayRef& array) {
  return array.space == MemorySpace::host && array.is_row_major();
}

/// Sends start with the next higher rank, so that not all begin with the same peer.
void rotate(std::vector<Message>& messages, int mesh_rank) {
  std::ranges::stable_sort(messages, {}, &Message::peer);
  const auto next = std::ranges::upper_bound(messages, mesh_rank, {}, &Message::peer);
  std::rotate(messages.begin(), next, messages.end());
}

}  // namespace

std::byte* ScratchBuffer::reserve(std::int64_t bytes, MemorySpace space) {
  const auto size = static_cast<std::size_t>(bytes);
  const auto grown = [&]<class Bytes>(ViewHolder<Bytes>& buffer) {
    if (buffer.get().size() < size) {
      buffer = ViewHolder<Bytes>();
      buffer = ViewHolder(
          Bytes(Kokkos::view_alloc("tessera::scratch", Kokkos::WithoutInitializing), size));
    }
    return buffer.get().data();
  };
  return space == MemorySpace::host ? grown(host_) : grown(device_);
}

void Scratch::hand_over(const Execution& execution) {
  if (user.get().is_given() && user.get() != execution)
    user.get().fence("tessera::redistribute: before scratch is used by another instance");
  user = ViewHolder<Execution>(execution);
}

PhaseRun::PhaseRun(const RedistributePlan& plan, const Step& step, const Phase& phase,
                   int mesh_rank, const ArrayRef& source, const ArrayRef& destination,
                   Scratch& scratch)
    : source_(source), destination_(destination), op_(plan.reduce_op()), divisor_(plan.divisor()) {
  const bool reduces = step.kind == StepKind::reduce && &phase == &step.phases.front();
  const bool stages_own = reduces && source.space != destination.space;
  const auto bytes = scratch_bytes(phase, mesh_rank, source.type, stages_own);
  auto* slot = aligned(scratch.messages.reserve(bytes, MemorySpace::host));
  add_outgoing(phase, slot);
  if (reduces)
    add_reductions(phase, mesh_rank, slot, scratch);
  else
    add_incoming(phase, mesh_rank, slot);
  rotate(outgoing_, mesh_rank);
}

void PhaseRun::add_outgoing(const Phase& phase, std::byte*& slot) {
  for (const auto& block : phase.send) {
    const auto from = part(source_, phase.source, block.box);
    if (is_message_as_it_is(from)) {
      outgoing_.push_back({block.peer, from.data, from.bytes()});
      continue;
    }
    const auto packed = row_major(slot, source_.type, block.box.shape, MemorySpace::host);
    pack_jobs_.push_back({from, packed});
    outgoing_.push_back({block.peer, slot, packed.bytes()});
    slot += slot_bytes(block.box, source_.type);
  }
}

void PhaseRun::add_incoming(const Phase& phase, int mesh_rank, std::byte*& slot) {
  for (const auto& block : phase.receive) {
    const auto to = part(destination_, phase.destination, block.box);
    if (block.peer == mesh_rank) {
      const auto from = part(source_, phase.source, block.box);
      if (from.data != to.data) own_jobs_.push_back({from, to});
    } else if (is_message_as_it_is(to)) {
      incoming_.push_back({block.peer, to.data, to.bytes()});
    } else {
      const auto packed = row_major(slot, source_.type, block.box.shape, MemorySpace::host);
      incoming_.push_back({block.peer, slot, packed.bytes()});
      unpack_jobs_.push_back({packed, to});
      slot += slot_bytes(block.box, source_.type);
    }
  }
}

void PhaseRun::add_reductions(const Phase& phase, int mesh_rank, std::byte*& slot,
                              Scratch& scratch) {
  const bool is_on_device = destination_.space == MemorySpace::device;
  std::byte* device_slot = nullptr;
  if (is_on_device)
    device_slot = scratch.terms.reserve(scratch_bytes(phase, mesh_rank, source_.type, true),
                                        MemorySpace::device);
  const auto staged = [&](std::byte*& memory, const Box& box, MemorySpace space) {
    const auto term = row_major(memory, source_.type, box.shape, space);
    memory += slot_bytes(box, source_.type);
    return term;
  };
  for (const auto& block : phase.receive) {
    if (block.term == 0)
      reductions_.push_back({{}, part(destination_, phase.destination, block.box)});
    auto term = part(source_, phase.source, block.box);
    if (block.peer != mesh_rank) {
      term = staged(slot, block.box, MemorySpace::host);
      incoming_.push_back({block.peer, term.data, term.bytes()});
    }
    if (term.space != destination_.space) {
      const auto moved = staged(is_on_device ? device_slot : slot, block.box, destination_.space);
      unpack_jobs_.push_back({term, moved});
      term = moved;
    }
    reductions_.back().terms.push_back(term);
  }
}

void PhaseRun::pack(const Execution& execution) const {
  copy(execution, pack_jobs_);
}

void PhaseRun::copy_own(const Execution& execution) const {
  copy(execution, own_jobs_);
}

void PhaseRun::unpack(const Execution& execution) const {
  copy(execution, unpack_jobs_);
  for (const auto& reduction : reductions_)
    reduce(execution, op_, reduction.terms, reduction.destination, divisor_);
}

void prepare_destination(const Execution& execution, const RedistributePlan& plan,
                         const ArrayRef& destination) {
  if (plan.partial_target()) fill_identity(execution, plan.partial_target()->op, destination);
}

void complete_destination(const Execution& execution, const RedistributePlan& plan,
                          const std::vector<Step>& steps, const ArrayRef& destination) {
  if (!plan.partial_target() || plan.partial_target()->scale == 1) return;
  const auto& phase = steps.back().phases.back();
  for (std::size_t i = 0; i < phase.receive.size(); i += static_cast<std::size_t>(phase.terms))
    scale(execution, part(destination, phase.destination, phase.receive[i].box),
          plan.partial_target()->scale);
}

ArrayRef intermediate_array(const Phase& phase, const ArrayRef& like, Scratch& scratch) {
  const auto bytes = phase.destination.size() * like.type.size;
  return row_major(scratch.intermediate.reserve(bytes, like.space), like.type,
                   phase.destination.shape, like.space);
}

}  // namespace tessera::detail
