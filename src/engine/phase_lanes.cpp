// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What travels through the window of the node, and the reductions.
#include <algorithm>
#include <array>
#include <optional>

#include <tessera/tensor/detail/launch.hpp>

#include "engine/execute.hpp"

namespace tessera::detail {

void PhaseRun::count(Exchange& exchange) const {
  for (const auto& stream : outgoing_)
    if (stream.lane >= 0) exchange.count_sent(stream.array.bytes());
  exchange.count_packed(packed_bytes());
  for (const auto& stream : incoming_)
    if (stream.lane >= 0) exchange.count_received(stream.array.bytes());
  for (const auto& reduction : reductions_)
    for (const auto& term : terms_of(reduction))
      if (term.lane >= 0) exchange.count_received(reduction.destination.bytes());
}

bool PhaseRun::advance(const Execution& execution, Lanes* lanes) {
  bool has_moved = false;
  if (lanes != nullptr && (uses_device_ || peers_.slots != nullptr)) {
    has_moved = send_by_kernel(execution, *lanes);
    has_moved = receive_by_kernel(execution, *lanes) || has_moved;
  } else if (lanes != nullptr) {
    has_moved = send_chunks(execution, *lanes);
    has_moved = receive_chunks(execution, *lanes) || has_moved;
  }
  return reduce_chunks(execution, lanes) || has_moved;
}

/// Of several plans, blocks to one peer travel one after another.
bool PhaseRun::is_blocked(int lane) {
  return plans_ > 1 && static_cast<std::size_t>(lane) < blocked_.size() &&
         blocked_[static_cast<std::size_t>(lane)];
}

void PhaseRun::block(int lane) {
  if (plans_ == 1) return;
  const auto index = static_cast<std::size_t>(lane);
  if (blocked_.size() <= index) blocked_.resize(index + 1, 0);
  blocked_[index] = 1;
}

void PhaseRun::unblock_all() {
  std::ranges::fill(blocked_, 0);
}

void PhaseRun::settle(const Stream& stream) {
  if (stream.is_done())
    --left_;
  else
    block(stream.lane);
}

bool PhaseRun::send_chunks(const Execution& execution, Lanes& lanes) {
  bool has_moved = false;
  unblock_all();
  for (auto& stream : outgoing_) {
    if (stream.lane < 0 || stream.is_done() || is_blocked(stream.lane)) continue;
    if (auto* const slot = lanes.next(stream.lane)) {
      const auto chunk = stream.next_chunk();
      const bool streams = lanes.streams(stream.lane, chunk.bytes());
      const auto stores = streams ? Stores::non_temporal : Stores::cached;
      if (!run(execution, stream.prepared, chunk.first().data, slot, stores))
        copy_chunk(execution, chunk, in_slot(slot, chunk), stores);
      finish_host(execution);
      lanes.publish(stream.lane);
      stream.pass();
      if (stream.is_done()) lanes.close(stream.lane);
      has_moved = true;
    }
    settle(stream);
  }
  return has_moved;
}

bool PhaseRun::receive_chunks(const Execution& execution, Lanes& lanes) {
  bool has_moved = false;
  unblock_all();
  for (auto& stream : incoming_) {
    if (stream.lane < 0 || stream.is_done() || is_blocked(stream.lane)) continue;
    if (const auto* const slot = lanes.take(stream.lane)) {
      const auto chunk = stream.next_chunk();
      lanes.begin_reading(stream.lane);
      if (!run(execution, stream.prepared, slot, chunk.first().data, stream.stores))
        copy_chunk(execution, in_slot(slot, chunk), chunk, stream.stores);
      finish_host(execution);
      lanes.release(stream.lane);
      stream.pass();
      has_moved = true;
    }
    settle(stream);
  }
  return has_moved;
}

/// Who works on slots that such a chunk comes from or goes to.
MemorySpace PhaseRun::space_of_slots(const BlockArray& array) const {
  if (peers_.slots != nullptr)
    return peers_.slots->is_on_device ? MemorySpace::device : MemorySpace::host;
  return peers_.is_window_pinned ? array.space() : MemorySpace::host;
}

/// All chunks of these streams that can move, by one kernel and one fence. `job(stream)` adds the
/// copies of the next one, if there is a slot; `pass(stream)`: it is done.
template <class Job, class Pass>
bool PhaseRun::move_by_kernel(const Execution& execution, std::vector<Stream>& streams,
                              const Job& job, const Pass& pass) {
  jobs_.clear();
  moved_.clear();
  unblock_all();
  for (auto& stream : streams) {
    if (stream.lane < 0 || stream.is_done() || is_blocked(stream.lane)) continue;
    if (job(stream)) moved_.push_back(&stream);
    block(stream.lane);
  }
  if (moved_.empty()) return false;
  run_jobs(execution);
  for (auto* const stream : moved_) {
    stream->pass();
    pass(*stream);
    if (stream->is_done()) --left_;
  }
  return true;
}

bool PhaseRun::send_by_kernel(const Execution& execution, Lanes& lanes) {
  const auto job = [&](const Stream& stream) {
    auto* const slot = lanes.next(stream.lane);
    if (slot == nullptr) return false;
    const auto chunk = stream.next_chunk();
    add_jobs(chunk, in_slot(slot, chunk, space_of_slots(chunk)), Stores::cached);
    return true;
  };
  return move_by_kernel(execution, outgoing_, job, [&](const Stream& stream) {
    lanes.publish(stream.lane);
    if (stream.is_done()) lanes.close(stream.lane);
  });
}

bool PhaseRun::receive_by_kernel(const Execution& execution, Lanes& lanes) {
  const auto job = [&](const Stream& stream) {
    const auto* const slot = lanes.take(stream.lane);
    if (slot == nullptr) return false;
    const auto chunk = stream.next_chunk();
    add_jobs(in_slot(slot, chunk, space_of_slots(chunk)), chunk, stream.stores);
    return true;
  };
  return move_by_kernel(execution, incoming_, job,
                        [&](const Stream& stream) { lanes.release(stream.lane); });
}

bool PhaseRun::reduce_chunks(const Execution& execution, Lanes* lanes) {
  bool has_moved = false;
  unblock_all();
  for (auto& reduction : reductions_) {
    if (reduction.is_done()) continue;
    if (are_terms_here(reduction, lanes)) {
      reduce_next(execution, reduction, lanes);
      has_moved = true;
    }
    if (reduction.is_done()) {
      --left_;
      continue;
    }
    for (const auto& term : terms_of(reduction))
      if (term.lane >= 0) block(term.lane);
  }
  return has_moved;
}

void PhaseRun::reduce_next(const Execution& execution, Reduction& reduction, Lanes* lanes) {
  const auto to = reduction.cut.chunk(reduction.destination, reduction.chunk_of(reduction.next));
  const auto terms = terms_of(reduction, reduction.next);
  collect_operands(execution, reduction, to, lanes);
  for (const auto& term : terms)
    if (term.lane >= 0) lanes->begin_reading(term.lane);
  if (reduction.tree.leaves() > 1) {
    reduce_group(execution, reduction, to);
  } else {
    const auto bytes = to.space() == MemorySpace::host ? to.bytes() : 0;
    const TimedWrite write(bytes, choices_.reduce, reduction.stores);
    reduce_parts(execution, reduction.op, operands_, to, reduction.divisor, write.stores());
    finish_copies(execution);
  }
  for (const auto& term : terms)
    if (term.lane >= 0) lanes->release(term.lane);
  ++reduction.next;
}

/// The operands at hand, and then what is complete of the tree above them.
void PhaseRun::reduce_group(const Execution& execution, Reduction& reduction,
                            const BlockArray& to) {
  const auto group = reduction.group_of(reduction.next);
  const auto leaf = partial_result(reduction, reduction.tree.add(group), to);
  reduce_parts(execution, reduction.op, operands_, leaf, 1, Stores::cached);
  while (const auto merge = reduction.tree.merge()) {
    const std::array halves{partial_result(reduction, merge->left, to),
                            partial_result(reduction, merge->right, to)};
    const auto stores = merge->is_root ? reduction.stores : Stores::cached;
    reduce_parts(execution, reduction.op, halves, merge->is_root ? to : halves[0],
                 merge->is_root ? reduction.divisor : 1, stores);
  }
  finish_copies(execution);
}

/// Each array of a chunk by itself.
void PhaseRun::reduce_parts(const Execution& execution, ReduceOp op,
                            std::span<const BlockArray> operands, const BlockArray& to,
                            std::int64_t divisor, Stores stores) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    parts_.clear();
    for (const auto& operand : operands) parts_.push_back(operand[i]);
    reduce(execution, op, parts_, to[i], divisor, stores);
  }
}

BlockArray PhaseRun::partial_result(const Reduction& reduction, int slot,
                                    const BlockArray& like) const {
  auto* const data = partials_ + (reduction.first_partial + slot) * partial_bytes_;
  return dense_like(like, data, reduction.type_of_partials(), like.space());
}

/// Whether all terms of the next turn have arrived.
bool PhaseRun::are_terms_here(Reduction& reduction, Lanes* lanes) {
  const bool is_awaited = reduction.messages == 0 || reduction.next < reduction.posted;
  if (!is_awaited || reduction.missing_of(reduction.next) > 0) return false;
  const auto terms = terms_of(reduction, reduction.next);
  for (const auto& term : terms)
    if (term.lane >= 0 && is_blocked(term.lane)) return false;
  bool are_here = true;
  for (const auto& term : terms)
    if (term.lane >= 0 && lanes->take(term.lane) == nullptr) are_here = false;
  return are_here;
}

/// The terms of the next turn, in the space of their result.
void PhaseRun::collect_operands(const Execution& execution, const Reduction& reduction,
                                const BlockArray& result, Lanes* lanes) {
  operands_.clear();
  for (const auto& term : terms_of(reduction, reduction.next)) {
    if (term.lane >= 0)
      operands_.push_back(in_slot(lanes->take(term.lane), result, space_of_slots(result)));
    else if (term.peer == mesh_rank_)
      operands_.push_back(reduction.cut.chunk(term.array, reduction.chunk_of(reduction.next)));
    else
      operands_.push_back(arrived_term(term, reduction.next, result));
  }
  move_to_space_of(execution, result);
}

/// Operands in another memory space than the result are copied to it.
void PhaseRun::move_to_space_of(const Execution& execution, const BlockArray& result) {
  const auto elsewhere = std::ranges::count_if(
      operands_, [&](const BlockArray& operand) { return operand.space() != result.space(); });
  if (elsewhere == 0) return;
  auto* free = scratch_->moved_terms.reserve(elsewhere * result.bytes(), result.space());
  for (auto& operand : operands_) {
    if (operand.space() == result.space()) continue;
    const auto moved = dense_like(result, free, result.type(), result.space());
    copy_chunk(execution, operand, moved, Stores::cached);
    operand = moved;
    free += moved.bytes();
  }
}

std::vector<int> PhaseRun::awaited_lanes() const {
  std::vector<int> result;
  for (const auto& stream : incoming_)
    if (stream.lane >= 0 && !stream.is_done()) result.push_back(stream.lane);
  for (const auto& reduction : reductions_)
    for (const auto& term : terms_of(reduction))
      if (term.lane >= 0 && !reduction.is_done()) result.push_back(term.lane);
  return result;
}

}  // namespace tessera::detail
