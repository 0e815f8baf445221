// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
// What travels in messages: in each round one chunk of each block.
#include <algorithm>

#include <tessera/redistribute/detail/execute.hpp>

namespace tessera::detail {
namespace {

constexpr std::int64_t alignment = aligned_bytes(1);

std::byte* aligned(std::byte* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return data + (alignment - address % alignment) % alignment;
}

bool is_message_as_it_is(const ArrayRef& array) {
  return array.space == MemorySpace::host && array.is_row_major();
}

std::int64_t bytes_of_first_chunk(const Cut& cut, ElementType type) {
  return aligned_bytes(cut.chunk(0).size() * type.size);
}

}  // namespace

/// Of the first round, which is the largest.
std::int64_t PhaseRun::round_bytes() const {
  std::int64_t bytes = 0;
  for (const auto* streams : {&outgoing_, &incoming_})
    for (const auto& stream : *streams)
      if (stream.lane < 0) bytes += bytes_of_first_chunk(stream.cut, stream.array.type);
  for (const auto& reduction : reductions_)
    if (reduction.has_messages)
      bytes += bytes_of_first_chunk(reduction.cut, reduction.destination.type) *
               static_cast<std::int64_t>(reduction.terms);
  return bytes == 0 ? 0 : bytes + alignment;
}

/// The last round has ended, and its terms have been reduced.
bool PhaseRun::may_begin_round() const {
  return has_messages_ && !is_in_round_ &&
         std::ranges::all_of(reductions_, [&](const Reduction& reduction) {
           return !reduction.has_messages || reduction.is_done() || reduction.next == rounds_;
         });
}

/// Memory for a chunk, until the end of the round.
ArrayRef PhaseRun::staged(const ArrayRef& chunk) {
  const auto result = row_major(free_, chunk.type, chunk.extents, MemorySpace::host);
  free_ += aligned_bytes(result.bytes());
  return result;
}

bool PhaseRun::begin_round(const Execution& execution) {
  if (!may_begin_round()) return false;
  sends_.clear();
  receives_.clear();
  pack_jobs_.clear();
  unpack_jobs_.clear();
  free_ = aligned(scratch_->messages.reserve(0, MemorySpace::host));
  for (const auto& stream : outgoing_) {
    if (stream.lane >= 0 || stream.is_done()) continue;
    auto chunk = stream.next_chunk();
    if (!is_message_as_it_is(chunk)) {
      const auto packed = staged(chunk);
      pack_jobs_.push_back({chunk, packed});
      chunk = packed;
    }
    sends_.push_back({stream.peer, chunk.data, chunk.bytes()});
  }
  for (const auto& stream : incoming_) {
    if (stream.lane >= 0 || stream.is_done()) continue;
    auto chunk = stream.next_chunk();
    if (!is_message_as_it_is(chunk)) {
      const auto packed = staged(chunk);
      unpack_jobs_.push_back({packed, chunk, stream.stores});
      chunk = packed;
    }
    receives_.push_back({stream.peer, chunk.data, chunk.bytes()});
  }
  for (const auto& reduction : reductions_)
    if (reduction.has_messages && !reduction.is_done()) receive_terms(reduction);
  is_in_round_ = !sends_.empty() || !receives_.empty();
  copy(execution, pack_jobs_);
  return is_in_round_;
}

void PhaseRun::receive_terms(const Reduction& reduction) {
  const auto like = chunk_of(reduction.destination, reduction.cut, reduction.next);
  for (auto& term : std::span(terms_).subspan(reduction.first_term, reduction.terms)) {
    if (term.lane >= 0 || term.peer == mesh_rank_) continue;
    term.array = staged(like);
    receives_.push_back({term.peer, term.array.data, term.array.bytes()});
  }
}

void PhaseRun::end_round(const Execution& execution) {
  copy(execution, unpack_jobs_);
  for (auto* streams : {&outgoing_, &incoming_})
    for (auto& stream : *streams) {
      if (stream.lane >= 0 || stream.is_done()) continue;
      ++stream.next;
      if (stream.is_done()) --left_;
    }
  is_in_round_ = false;
  ++rounds_;
}

}  // namespace tessera::detail
