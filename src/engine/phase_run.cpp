// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include <tessera/tensor/detail/launch.hpp>

#include "engine/execute.hpp"
#include "kernels/copy_loop.hpp"

namespace tessera::detail {
namespace {

constexpr std::int64_t streaming_bytes = 8 << 20;

/// Of what stays on a rank while it also sends and receives.
std::int64_t own_chunk_bytes(const BlockArray& from, const BlockArray& to) {
  if (is_on_device(from.space()) && is_on_device(to.space())) return to.bytes();  // one kernel
  constexpr std::int64_t usual = 512 << 10;
  // Some rows even of wide matrices: one alone would be written a few bytes per cache line.
  constexpr std::int64_t crosswise = 4 << 20;
  return to.bytes() > usual && is_transposing(from.first(), to.first()) ? crosswise : usual;
}

Stores stores_for(const ArrayRef& destination) {
  const bool is_large =
      destination.space == MemorySpace::host && destination.bytes() >= streaming_bytes;
  return is_large ? Stores::non_temporal : Stores::cached;
}

}  // namespace

BlockArray PhaseRun::Stream::next_chunk() const {
  return cut.chunk(array, next);
}

void PhaseRun::clear(int mesh_rank, const Peers& peers, const ChunkSizes& sizes) {
  mesh_rank_ = mesh_rank;
  peers_ = peers;
  sizes_ = sizes;
  plans_ = 0;
  uses_device_ = false;
  outgoing_.clear();
  incoming_.clear();
  own_.clear();
  terms_.clear();
  reductions_.clear();
  choices_ = {};
  rewind();
}

/// Nothing is done yet.
void PhaseRun::rewind() {
  left_ = 0;
  next_own_ = 0;
  outgoing_turns_ = {};
  incoming_turns_ = {};
  flights_.clear();
  free_flights_.clear();
  for (auto* streams : {&outgoing_, &incoming_})
    for (auto& stream : *streams) stream.next = stream.done = 0;
  for (auto& block : own_) block.next = 0;
  for (auto& reduction : reductions_) {
    reduction.next = reduction.posted = 0;
    reduction.missing = {};
    reduction.tree.clear();
  }
}

bool PhaseRun::repeat(const Peers& peers, const ChunkSizes& sizes, const ArrayRef& source,
                      const ArrayRef& destination, const Scaling& scaling) {
  const bool is_same =
      plans_ == 1 && sizes_ == sizes && peers_.ranks.data() == peers.ranks.data() &&
      peers_.lanes.data() == peers.lanes.data() && peers_.slots == peers.slots &&
      scaling_ == scaling && are_alike(source_, source) && are_alike(destination_, destination);
  if (!is_same) return false;
  const auto source_moved = source.data - source_.data;
  const auto destination_moved = destination.data - destination_.data;
  source_ = source;
  destination_ = destination;
  for (auto& stream : outgoing_) stream.array.move_by(source_moved);
  for (auto& stream : incoming_) stream.array.move_by(destination_moved);
  for (auto& block : own_) {
    block.source.move_by(source_moved);
    block.destination.move_by(destination_moved);
  }
  for (auto& term : terms_)
    if (term.peer == mesh_rank_) term.array.move_by(source_moved);
  for (auto& reduction : reductions_) reduction.destination.move_by(destination_moved);
  rewind();
  return true;
}

void PhaseRun::add(const Movement& movement, const Step& step, const Phase& phase,
                   const ArrayRef& source, const ArrayRef& destination, const Scaling& scaling) {
  scaling_ = scaling;
  const bool reduces = step.kind == StepKind::reduce && &phase == &step.phases.front();
  const auto order = movement.settings.wire_order;
  const auto first = static_cast<std::ptrdiff_t>(outgoing_.size());
  const int at_once = terms_at_once(movement);
  const int groups = reduces ? groups_of(phase.contributions, at_once) : 1;
  for_each_message(phase.send, mesh_rank_, [&](std::span<const Block> message) {
    const auto& block = message.front();
    auto from = message_in(source, phase.send, message, BlockSide::from, order);
    from.travel_as({movement.type});
    const int lane = peers_.lane(block.peer);
    const BlockChunks cut(from, sizes_.of(reduces, lane));
    auto& stream =
        outgoing_.emplace_back(Stream{block.peer, lane, from, cut, Stores::cached, plans_});
    if (groups > 1)
      stream.turn =
          round_of(block.contribution / at_once, block.receiver_contribution / at_once, groups);
  });
  const auto ranks = static_cast<int>(peers_.ranks.size());
  std::ranges::stable_sort(outgoing_.begin() + first, outgoing_.end(), {}, [&](const Stream& s) {
    return std::pair(s.turn, distance(mesh_rank_, s.peer, ranks));
  });
  if (reduces)
    add_reductions(movement, phase, source, destination);
  else
    add_blocks(movement, phase, source, destination);
  uses_device_ = uses_device_ || is_on_device(source.space) || is_on_device(destination.space);
  // At last: what an exception has left incomplete is not repeated.
  ++plans_;
  source_ = source;
  destination_ = destination;
}

void PhaseRun::add_blocks(const Movement& movement, const Phase& phase, const ArrayRef& source,
                          const ArrayRef& destination) {
  const auto order = movement.settings.wire_order;
  const auto stores = stores_for(destination);
  const auto first = static_cast<std::ptrdiff_t>(incoming_.size());
  Arrivals arrivals(phase, destination, order);
  for_each_message(phase.receive, mesh_rank_, [&](std::span<const Block> message) {
    const auto& block = message.front();
    auto to = arrivals.next(message);
    to.travel_as({movement.type, !scaling_.is_copy()});
    if (block.peer != mesh_rank_) {
      const int lane = peers_.lane(block.peer);
      incoming_.push_back(
          {block.peer, lane, to, BlockChunks(to, sizes_.of(false, lane)), stores, plans_});
      return;
    }
    const auto from = block_in(source, phase.receive, block, BlockSide::from, order);
    // Where nothing is waited for, in one go.
    const bool is_alone = phase.send.empty() && phase.receive.size() == 1;
    const BlockChunks cut(to, is_alone ? to.bytes() : own_chunk_bytes(from, to));
    own_.push_back({from, to, cut, stores});
  });
  const auto ranks = static_cast<int>(peers_.ranks.size());
  std::ranges::stable_sort(incoming_.begin() + first, incoming_.end(), {},
                           [&](const Stream& s) { return distance(s.peer, mesh_rank_, ranks); });
}

void PhaseRun::add_reductions(const Movement& movement, const Phase& phase, const ArrayRef& source,
                              const ArrayRef& destination) {
  const auto order = movement.settings.wire_order;
  const auto stores = stores_for(destination);
  const auto first = reductions_.size();
  // The caches hold nothing of so much afterwards.
  if (stores == Stores::non_temporal) choices_.reduce = StoreChoice(1);
  for (const auto& block : phase.receive) {
    if (block.contribution == 0) {
      const auto to = block_in(destination, phase.receive, block, BlockSide::to, order);
      const BlockChunks cut(to, sizes_.term);
      reductions_.push_back({to, cut, stores, terms_.size(), 0, movement.op, movement.divisor,
                             plans_, block.receiver_contribution});
    }
    auto& reduction = reductions_.back();
    ++reduction.terms;
    const auto index = reductions_.size() - 1;
    if (block.peer == mesh_rank_) {
      terms_.push_back({block.peer, -1,
                        block_in(source, phase.receive, block, BlockSide::from, order), index, -1});
      continue;
    }
    const int lane = peers_.lane(block.peer);
    terms_.push_back({block.peer, lane, {}, index, lane < 0 ? reduction.messages++ : -1});
  }
  for (auto& reduction : std::span(reductions_).subspan(first))
    group_terms(reduction, terms_at_once(movement));
}

int PhaseRun::terms_at_once(const Movement& movement) const {
  return sizes_.terms_at_once > 0 ? sizes_.terms_at_once : movement.messages.operands_at_once;
}

/// All are one group where few travel in messages, or are moved to the memory space of the result.
void PhaseRun::group_terms(Reduction& reduction, int at_once) {
  const auto terms = static_cast<int>(reduction.terms);
  const bool are_moved = space_of_slots(reduction.destination) != reduction.destination.space();
  reduction.group = reduction.terms;
  reduction.buffers = reduction.messages;
  if (!come_in_groups(are_moved ? terms : reduction.messages, terms, at_once)) return;
  reduction.group = static_cast<std::size_t>(at_once);
  reduction.buffers = std::min(reduction.messages, at_once);
  reduction.tree = PartialTree(groups_of(terms, at_once));
}

void PhaseRun::begin(Scratch& scratch) {
  scratch_ = &scratch;
  left_ = outgoing_.size() + incoming_.size() + reductions_.size();
  const auto awaits_terms = [](const Reduction& reduction) { return reduction.messages > 0; };
  has_messages_ = std::ranges::any_of(reductions_, awaits_terms) ||
                  std::ranges::any_of(outgoing_, &Stream::travels_in_messages) ||
                  std::ranges::any_of(incoming_, &Stream::travels_in_messages);
  if (has_messages_) {
    make_pool(outgoing_, outgoing_pool_, scratch.outgoing);
    make_pool(incoming_, incoming_pool_, scratch.incoming);
  }
  make_term_buffers();
  packing_.begin(packed_bytes(), choices_.pack);
  prepare_copies();
}

bool PhaseRun::run(const Execution& execution, std::optional<PreparedCopy>& copy,
                   const std::byte* source, std::byte* destination, Stores stores) {
  return copy && copy->run(execution, source, destination, stores);
}

/// Those of one chunk in one array, whose loops stay the same.
void PhaseRun::prepare_copies() {
  const auto is_on_host = [](const BlockArray& array) {
    return array.is_one() && array.space() == MemorySpace::host && !array.wire().is_scaled;
  };
  const auto keeps_type = [](const BlockArray& array) { return array.type() == array.wire().type; };
  const auto is_to_prepare = [&](const Stream& stream) {
    return !stream.prepared && stream.cut.chunks() == 1 && is_on_host(stream.array) &&
           keeps_type(stream.array) && (!stream.travels_in_messages() || is_packed_message(stream));
  };
  for (auto& stream : outgoing_)
    if (is_to_prepare(stream))
      stream.prepared.emplace(
          CopyJob{stream.array.first(), in_slot(nullptr, stream.array).first()});
  for (auto& stream : incoming_)
    if (is_to_prepare(stream))
      stream.prepared.emplace(
          CopyJob{in_slot(nullptr, stream.array).first(), stream.array.first()});
  for (auto& block : own_)
    if (!block.prepared && block.cut.chunks() == 1 && is_on_host(block.source) &&
        is_on_host(block.destination) && block.source.type() == block.destination.type())
      block.prepared.emplace(CopyJob{block.source.first(), block.destination.first()});
}

bool PhaseRun::is_complete() const {
  return left_ == 0 && next_own_ == own_.size();
}

std::int64_t PhaseRun::bytes_done() const {
  std::int64_t bytes = 0;
  for (const auto& stream : incoming_)
    bytes += stream.array.bytes() * stream.done / stream.cut.chunks();
  for (const auto& reduction : reductions_)
    bytes +=
        reduction.destination.bytes() * reduction.chunk_of(reduction.next) / reduction.cut.chunks();
  for (std::size_t i = 0; i < next_own_; ++i) bytes += own_[i].destination.bytes();
  return bytes;
}

/// The copies of all arrays of a chunk, but of those that lie where they shall be, to jobs_.
void PhaseRun::add_jobs(const BlockArray& from, const BlockArray& to, Stores stores) {
  for (std::size_t i = 0; i < to.size(); ++i)
    if (from[i].data != to[i].data || to.wire().is_scaled)
      jobs_.push_back({from[i], to[i], stores, scaling_into(to)});
}

/// Copies a chunk; what was in jobs_ is lost.
void PhaseRun::copy_chunk(const Execution& execution, const BlockArray& from, const BlockArray& to,
                          Stores stores) {
  jobs_.clear();
  add_jobs(from, to, stores);
  copy(execution, jobs_);
}

/// All elements lie where they shall be.
static bool lies_in_place(const BlockArray& from, const BlockArray& to) {
  if (to.wire().is_scaled) return false;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (from[i].data != to[i].data) return false;
  return true;
}

bool PhaseRun::copy_own(const Execution& execution) {
  if (next_own_ == own_.size()) return false;
  auto& block = own_[next_own_];
  if (block.next == 0 && lies_in_place(block.source, block.destination)) {
    ++next_own_;
    return true;
  }
  const auto to = block.cut.chunk(block.destination, block.next);
  const TimedWrite write(to.space(), to.bytes(), block.stores, choices_.own);
  if (!run(execution, block.prepared, block.source.first().data, to.first().data, write.stores()))
    copy_chunk(execution, block.cut.chunk(block.source, block.next), to, write.stores());
  if (++block.next == block.cut.chunks()) ++next_own_;
  return true;
}

}  // namespace tessera::detail
