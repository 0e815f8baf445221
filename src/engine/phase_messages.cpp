// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What travels in messages.
#include <algorithm>
#include <utility>

#include <tessera/tensor/detail/launch.hpp>

#include "engine/execute.hpp"

namespace tessera::detail {
namespace {

/// On the host, so much is packed before messages go on their way.
constexpr std::int64_t packed_at_once = 1 << 20;

std::int64_t bytes_of_largest_chunk(const BlockChunks& cut, ElementType type) {
  return aligned_bytes(cut.largest_chunk() * type.size);
}

}  // namespace

bool PhaseRun::is_message_as_it_is(const BlockArray& array) const {
  const bool is_staged = array.space() == MemorySpace::host ? peers_.staging == Staging::all_memory
                                                            : peers_.staging != Staging::nothing;
  return !is_staged && array.is_row_major();
}

bool PhaseRun::is_packed_message(const Stream& stream) const {
  return stream.travels_in_messages() && !is_message_as_it_is(stream.array);
}

/// Memory for messages of this array, on which the same processor works.
std::byte* PhaseRun::reserve(ScratchBuffer& memory, std::int64_t bytes,
                             const BlockArray& array) const {
  const bool is_staged = is_on_device(array.space()) && peers_.staging != Staging::nothing;
  return is_staged ? memory.reserve_pinned(bytes) : memory.reserve(bytes, array.space());
}

/// Before MPI or other ranks read what was packed, or write again where it was unpacked.
void PhaseRun::finish_copies(const Execution& execution) const {
  finish_host(execution);
  if (has_device && uses_device_)
    execution.instance<MemorySpace::device>().fence("tessera::redistribute: before others go on");
}

/// The copies in jobs_, to their end.
void PhaseRun::run_jobs(const Execution& execution) {
  copy(execution, jobs_);
  if (jobs_.empty())
    finish_host(execution);
  else
    finish_copies(execution);
}

/// As many buffers as these streams may need at once.
void PhaseRun::make_pool(const std::vector<Stream>& streams, Pool& pool, ScratchBuffer& memory) {
  pool.under_way = 0;
  pool.free.clear();
  std::int64_t bytes = 0;
  std::int64_t chunks = 0;
  const BlockArray* array = nullptr;
  for (const auto& stream : streams) {
    if (!is_packed_message(stream)) continue;
    bytes = std::max(bytes, bytes_of_largest_chunk(stream.cut, stream.array.wire().type));
    chunks += stream.cut.chunks();
    array = &stream.array;
  }
  if (array == nullptr) return;
  auto buffers = std::min<std::int64_t>(chunks, sizes_.messages_at_once);
  auto* free = reserve(memory, buffers * bytes, *array);
  for (; buffers > 0; --buffers) pool.free.push_back(std::exchange(free, free + bytes));
}

void PhaseRun::make_term_buffers() {
  term_buffer_bytes_ = 0;
  partial_bytes_ = 0;
  std::int64_t buffers = 0;
  std::int64_t partials = 0;
  const BlockArray* result = nullptr;
  for (auto& reduction : reductions_) {
    const int groups = reduction.tree.leaves();
    if (reduction.messages == 0 && groups == 1) continue;
    reduction.first_buffer = std::exchange(buffers, buffers + 2 * reduction.buffers);
    const auto bytes_of = [&](ElementType type) {
      return bytes_of_largest_chunk(reduction.cut, type);
    };
    term_buffer_bytes_ = std::max(term_buffer_bytes_, bytes_of(reduction.destination.type()));
    if (groups > 1) {
      reduction.first_partial = std::exchange(partials, partials + PartialTree::slots(groups));
      partial_bytes_ = std::max(partial_bytes_, bytes_of(reduction.type_of_partials()));
    }
    result = &reduction.destination;
  }
  if (result == nullptr) return;
  term_buffers_ = reserve(scratch_->arriving_terms, buffers * term_buffer_bytes_, *result);
  if (partials > 0)
    partials_ = scratch_->partial_results.reserve(partials * partial_bytes_, result->space());
}

std::span<const Message> PhaseRun::post(const Execution& execution) {
  posted_.clear();
  if (!has_messages_) return posted_;
  receive_streams();
  receive_terms();
  send_streams(execution);
  return posted_;
}

/// The stream whose chunk goes on its way next; null: none.
PhaseRun::Stream* PhaseRun::next_in_turn(std::vector<Stream>& streams, Turns& turns) {
  while (turns.first < streams.size()) {
    const int plan = streams[turns.first].plan;
    while (turns.next < streams.size() && streams[turns.next].plan == plan) {
      auto& stream = streams[turns.next++];
      if (!stream.travels_in_messages() || stream.next == stream.cut.chunks()) continue;
      turns.has_found = true;
      return &stream;
    }
    if (!std::exchange(turns.has_found, false)) turns.first = turns.next;
    turns.next = turns.first;
  }
  return nullptr;
}

std::size_t PhaseRun::add_flight(const Flight& flight) {
  if (free_flights_.empty()) {
    flights_.push_back(flight);
    return flights_.size() - 1;
  }
  const auto id = free_flights_.back();
  free_flights_.pop_back();
  flights_[id] = flight;
  return id;
}

/// The message for the next chunk of a stream.
const Message& PhaseRun::begin_flight(Flight::Kind kind, std::vector<Stream>& streams, Pool& pool,
                                      Stream& stream) {
  const auto chunk = stream.next_chunk();
  std::byte* buffer = nullptr;
  if (!is_message_as_it_is(chunk)) {
    buffer = pool.free.back();
    pool.free.pop_back();
  }
  ++pool.under_way;
  const auto index = static_cast<std::size_t>(&stream - streams.data());
  const auto id = add_flight({kind, index, stream.next++, buffer});
  return posted_.emplace_back(Message{stream.peer, buffer != nullptr ? buffer : chunk.first().data,
                                      chunk.bytes(), kind == Flight::Kind::outgoing, id});
}

void PhaseRun::receive_streams() {
  while (incoming_pool_.under_way < sizes_.messages_at_once) {
    auto* const stream = next_in_turn(incoming_, incoming_turns_);
    if (stream == nullptr) return;
    begin_flight(Flight::Kind::incoming, incoming_, incoming_pool_, *stream);
  }
}

/// Of several plans, messages of one peer arrive in the order of the plans.
void PhaseRun::receive_terms() {
  bool are_posted = true;
  for (std::size_t r = 0; r < reductions_.size(); ++r) {
    auto& reduction = reductions_[r];
    if (r > 0 && reductions_[r - 1].plan != reduction.plan && !are_posted) return;
    while (!reduction.is_posted() && reduction.posted < reduction.next + 2) {
      receive_terms(reduction);
      ++reduction.posted;
    }
    are_posted = are_posted && reduction.is_posted();
  }
}

void PhaseRun::receive_terms(Reduction& reduction) {
  const auto turn = reduction.posted;
  const auto like = reduction.cut.chunk(reduction.destination, reduction.chunk_of(turn));
  for (const auto& term : terms_of(reduction, turn)) {
    if (term.message < 0) continue;
    const auto index = static_cast<std::size_t>(&term - terms_.data());
    const auto id = add_flight({Flight::Kind::term, index, turn});
    posted_.push_back(
        {term.peer, arrived_term(term, turn, like).first().data, like.bytes(), false, id});
    ++reduction.missing_of(turn);
  }
}

/// A chunk of a term as it arrives. Messages of one group follow one another in number.
BlockArray PhaseRun::arrived_term(const Term& term, std::int64_t turn,
                                  const BlockArray& like) const {
  const auto& reduction = reductions_[term.reduction];
  const auto index = reduction.first_buffer + 2 * (term.message % reduction.buffers) + turn % 2;
  return dense_like(like, term_buffers_ + index * term_buffer_bytes_, like.type(), like.space());
}

std::int64_t PhaseRun::packed_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& stream : outgoing_)
    if (is_packed_message(stream)) bytes += stream.array.bytes();
  return bytes;
}

void PhaseRun::end() {
  packing_.end(choices_.pack);
}

void PhaseRun::send_streams(const Execution& execution) {
  jobs_.clear();
  const auto stores = packing_.stores();
  std::int64_t packed = 0;
  while (outgoing_pool_.under_way < sizes_.messages_at_once && packed < packed_at_once) {
    auto* const stream = next_in_turn(outgoing_, outgoing_turns_);
    if (stream == nullptr) break;
    const auto chunk = stream->next_chunk();
    const auto& message = begin_flight(Flight::Kind::outgoing, outgoing_, outgoing_pool_, *stream);
    if (message.data == chunk.first().data) continue;
    if (chunk.space() == MemorySpace::host) packed += message.bytes;
    if (!run(execution, stream->prepared, chunk.first().data, message.data, stores))
      add_jobs(chunk, in_slot(message.data, chunk, chunk.space()), stores);
  }
  run_jobs(execution);
}

void PhaseRun::complete(const Execution& execution, std::span<const std::size_t> ids) {
  jobs_.clear();
  for (const auto id : ids) {
    land(execution, flights_[id]);
    free_flights_.push_back(id);
  }
  run_jobs(execution);
}

void PhaseRun::land(const Execution& execution, const Flight& flight) {
  if (flight.kind == Flight::Kind::term) {
    --reductions_[terms_[flight.index].reduction].missing_of(flight.chunk);
    return;
  }
  const bool is_sent = flight.kind == Flight::Kind::outgoing;
  auto& stream = (is_sent ? outgoing_ : incoming_)[flight.index];
  auto& pool = is_sent ? outgoing_pool_ : incoming_pool_;
  --pool.under_way;
  if (flight.buffer != nullptr) {
    pool.free.push_back(flight.buffer);
    if (!is_sent) unpack(execution, stream, flight);
  }
  ++stream.done;
  if (stream.is_done()) --left_;
}

void PhaseRun::unpack(const Execution& execution, Stream& stream, const Flight& flight) {
  const auto to = stream.cut.chunk(stream.array, flight.chunk);
  const auto from = in_slot(flight.buffer, to, to.space());
  auto* const data = to.first().data;
  const bool is_small = to.space() != MemorySpace::host || to.bytes() < serial_bytes;
  if (!to.is_one() || is_small) {
    if (!run(execution, stream.prepared, flight.buffer, data, stream.stores))
      add_jobs(from, to, stream.stores);
    return;
  }
  const TimedWrite write(to.space(), to.bytes(), stream.stores, choices_.unpack);
  if (!run(execution, stream.prepared, flight.buffer, data, write.stores()))
    copy(execution, {from.first(), to.first(), write.stores(), scaling_into(to)});
}

}  // namespace tessera::detail
