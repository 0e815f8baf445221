// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/named_region.hpp>

#include "engine/execute.hpp"
#include "engine/run.hpp"
#include "engine/short_exchange.hpp"

namespace tessera::detail {
namespace {

/// Sent, received and kept. Of more than that, what stays had better be copied in parts, so that
/// messages go on meanwhile.
constexpr std::int64_t most_bytes_in_all = 4 << 20;
/// Each is prepared.
constexpr int most_rounds = 16;

bool reduces(const std::vector<Step>& steps, std::size_t phase) {
  return steps.front().kind == StepKind::reduce && phase == 0;
}

/// Where `bytes` lie after what ends at `end`, which moves on.
std::ptrdiff_t placed(std::int64_t& end, std::int64_t bytes) {
  return std::exchange(end, end + aligned_bytes(bytes));
}

}  // namespace

bool ShortExchange::may_serve(const Movement& movement, const std::vector<Step>& steps,
                              const Group& group) {
  if (steps.size() != 1 || movement.partial_target) return false;
  const auto type = movement.type;
  const auto peers = peers_of(group, movement);
  if (peers.staging == Staging::all_memory) return false;
  const BoundPlan unbound{movement, steps, {}, {}};
  const auto sizes = chunk_sizes({&unbound, 1}, group.communicator);
  std::int64_t sum = 0;
  const auto& phases = steps.front().phases;
  for (std::size_t p = 0; p < phases.size(); ++p)
    for (const auto* blocks : {&phases[p].send, &phases[p].receive}) {
      std::int64_t round = 0;
      int messages = 0;
      bool is_cut = false;
      bool is_long = false;
      for_each_message(*blocks, group.position, [&](std::span<const Block> message) {
        std::int64_t bytes = 0;
        for (const auto& block : message) bytes += block.size() * type.size;
        sum += bytes;
        const int peer = message.front().peer;
        if (peer == group.position) return;
        ++messages;
        const bool is_term = reduces(steps, p);
        const auto chunk = sizes.of(is_term, -1);
        is_long = is_long || peers.lane(peer) >= 0 || bytes > (is_term ? most_rounds : 1) * chunk;
        round += std::min(bytes, chunk);
        is_cut = is_cut || bytes > chunk;
      });
      if (is_long || messages > sizes.messages_at_once) return false;
      if ((is_cut ? 2 : 1) * round > sizes.messages_at_once * sizes.message) return false;
    }
  return sum <= most_bytes_in_all;
}

ShortExchange::ShortExchange(const BoundPlan& bound, const Group& group)
    : group_(group),
      source_(bound.source),
      destination_(bound.destination),
      op_(bound.movement.op),
      communicates_(bound.steps.front().communicates),
      sizes_(chunk_sizes({&bound, 1}, group.communicator)),
      is_possible_(source_.space == MemorySpace::host && destination_.space == MemorySpace::host) {
  if (is_possible_) prepare(bound);
}

bool ShortExchange::is_for(const BoundPlan& bound) const {
  return are_alike(source_, bound.source) && are_alike(destination_, bound.destination);
}

void ShortExchange::prepare(const BoundPlan& bound) {
  const auto order = bound.movement.settings.wire_order;
  auto source = bound.source;
  PhaseNumber number;
  for (const auto& phase : bound.steps.front().phases) {
    if (intermediate_bytes({&bound, 1}, number, group_.position) > 0) is_possible_ = false;
    if (!is_possible_) return;
    std::byte* unused = nullptr;
    const auto result = result_of_phase(bound, number, group_.position, unused);
    auto& prepared = phases_.emplace_back(PreparedPhase{number.phase > 0});
    const bool is_reduced = reduces(bound.steps, number.phase);
    prepare_to_send(phase, source, order, is_reduced, prepared);
    if (is_reduced)
      prepare_to_reduce(phase, source, result, bound.movement, prepared);
    else
      prepare_to_receive(phase, source, result, order, prepared);
    packed_bytes_ += prepared.packed_bytes;
    for (const auto& round : prepared.rounds) {
      prepared.outgoing_bytes = std::max(prepared.outgoing_bytes, round.outgoing_bytes);
      prepared.incoming_bytes = std::max(prepared.incoming_bytes, round.incoming_bytes);
    }
    const int at_once = prepared.rounds.size() > 1 ? 2 : 1;
    outgoing_bytes_ = std::max(outgoing_bytes_, at_once * prepared.outgoing_bytes);
    incoming_bytes_ = std::max(incoming_bytes_, at_once * prepared.incoming_bytes);
    source = result;
    number = number.next(bound.steps);
  }
}

PreparedCopy ShortExchange::prepared_copy(const ArrayRef& from, const ArrayRef& to) {
  largest_copy_ = std::max(largest_copy_, to.bytes());
  return PreparedCopy(CopyJob{from, to});
}

/// The round of this number, which may be the first one behind the last.
ShortExchange::Round& ShortExchange::round(PreparedPhase& phase, std::int64_t number) {
  const auto index = static_cast<std::size_t>(number);
  if (phase.rounds.size() <= index) phase.rounds.resize(index + 1);
  return phase.rounds[index];
}

void ShortExchange::prepare_to_send(const Phase& phase, const ArrayRef& source, WireOrder order,
                                    bool reduces, PreparedPhase& prepared) {
  const auto* const start = prepared.reads_destination ? destination_.data : source_.data;
  for_each_message(phase.send, group_.position, [&](std::span<const Block> message) {
    const int peer = message.front().peer;
    const auto whole = message_in(source, phase.send, message, BlockSide::from, order);
    const BlockChunks cut(whole, sizes_.of(reduces, -1));
    for (std::int64_t c = 0; c < cut.chunks(); ++c) {
      auto& round = this->round(prepared, c);
      const auto from = cut.chunk(whole, c);
      auto& parcel =
          round.outgoing.emplace_back(Parcel{peer, from.bytes(), from.first().data - start});
      if (from.is_row_major()) continue;
      parcel.packing =
          prepared_packing(from, start, true, placed(round.outgoing_bytes, parcel.bytes));
      prepared.packed_bytes += parcel.bytes;
    }
  });
  for (auto& round : prepared.rounds)
    std::ranges::stable_sort(round.outgoing, {}, [&](const Parcel& parcel) {
      return distance(group_.position, parcel.peer, group_.size());
    });
}

void ShortExchange::prepare_to_receive(const Phase& phase, const ArrayRef& source,
                                       const ArrayRef& destination, WireOrder order,
                                       PreparedPhase& prepared) {
  const auto* const start = prepared.reads_destination ? destination_.data : source_.data;
  auto& round = this->round(prepared, 0);
  Arrivals arrivals(phase, destination, order);
  for_each_message(phase.receive, group_.position, [&](std::span<const Block> message) {
    const auto& block = message.front();
    const auto to = arrivals.next(message);
    if (block.peer == group_.position) {
      const auto from = block_in(source, phase.receive, block, BlockSide::from, order);
      for (std::size_t k = 0; k < to.size(); ++k)
        prepared.own.push_back({from[k].data - start, to[k].data - destination_.data, to[k].bytes(),
                                prepared_copy(from[k], to[k])});
      return;
    }
    auto& parcel = round.incoming.emplace_back(
        Parcel{block.peer, to.bytes(), to.first().data - destination_.data});
    if (to.is_row_major()) return;
    parcel.packing =
        prepared_packing(to, destination_.data, false, placed(round.incoming_bytes, parcel.bytes));
  });
}

void ShortExchange::prepare_to_reduce(const Phase& phase, const ArrayRef& source,
                                      const ArrayRef& destination, const Movement& movement,
                                      PreparedPhase& prepared) {
  const auto order = movement.settings.wire_order;
  const auto terms = static_cast<std::size_t>(phase.contributions);
  for (std::size_t first = 0; first < phase.receive.size(); first += terms) {
    const auto blocks = std::span(phase.receive.begin(), phase.receive.end()).subspan(first, terms);
    const auto& block = blocks.front();
    const auto whole = block_in(destination, phase.receive, block, BlockSide::to, order);
    const bool has_own = std::ranges::find(blocks, group_.position, &Block::peer) != blocks.end();
    const auto own =
        has_own ? block_in(source, phase.receive, block, BlockSide::from, order) : whole;
    const BlockChunks cut(whole, sizes_.term);
    for (std::int64_t c = 0; c < cut.chunks(); ++c)
      prepare_to_reduce(blocks, cut.chunk(own, c), cut.chunk(whole, c), movement.divisor,
                        round(prepared, c));
  }
}

/// `own`: what this rank has of it, if that is one of the terms. Each array of the chunk is reduced
/// by itself.
void ShortExchange::prepare_to_reduce(std::span<const Block> blocks, const BlockArray& own,
                                      const BlockArray& to, std::int64_t divisor, Round& round) {
  const auto first_parcel = round.incoming.size();
  std::vector<std::ptrdiff_t> arrived;
  for (const auto& block : blocks) {
    if (block.peer == group_.position) continue;
    arrived.push_back(placed(round.incoming_bytes, to.bytes()));
    round.incoming.push_back({block.peer, to.bytes(), arrived.back()});
  }
  std::ptrdiff_t in_chunk = 0;
  for (std::size_t k = 0; k < to.size(); ++k) {
    std::vector<ArrayRef> arrays;
    std::vector<Term> terms;
    auto next = arrived.begin();
    for (const auto& block : blocks) {
      const bool is_own = block.peer == group_.position;
      arrays.push_back(is_own ? own[k] : in_slot(nullptr, to[k]).first());
      terms.push_back({is_own, is_own ? own[k].data - source_.data : *next++ + in_chunk});
    }
    if (transposed_operands(arrays, to[k]) > 0) is_possible_ = false;
    round.reductions.push_back({to[k].data - destination_.data, std::move(terms),
                                std::make_shared<Reduction>(make_reduction(arrays, to[k], divisor)),
                                first_parcel, round.incoming.size()});
    in_chunk += to[k].bytes();
  }
}

/// The copies of a chunk to or from scratch; `start` is where the array begins.
ShortExchange::Packing ShortExchange::prepared_packing(const BlockArray& chunk,
                                                       const std::byte* start, bool is_sent,
                                                       std::ptrdiff_t place) {
  Packing packing{place, {}};
  std::ptrdiff_t in_packing = 0;
  for (std::size_t k = 0; k < chunk.size(); ++k) {
    const auto packed = in_slot(nullptr, chunk[k]).first();
    packing.parts.push_back(
        {chunk[k].data - start, in_packing,
         is_sent ? prepared_copy(chunk[k], packed) : prepared_copy(packed, chunk[k])});
    in_packing += chunk[k].bytes();
  }
  return packing;
}

bool ShortExchange::run(const Execution& execution, const BoundPlan& bound, Scratch& scratch,
                        const char* operation) {
  if (!is_possible_ || is_for_threads(execution, largest_copy_)) return false;
  const NamedRegion region(operation);
  execution.fence("tessera::redistribute: before reading the source");
  scratch.hand_over(execution);
  Addresses addresses{bound.source.data, bound.destination.data,
                      scratch.outgoing.reserve(outgoing_bytes_, MemorySpace::host),
                      scratch.incoming.reserve(incoming_bytes_, MemorySpace::host)};
  std::optional<Exchange> exchange;
  if (communicates_) {
    exchange.emplace(group_.communicator, TraceKind::exchange, operation, group_.size());
    exchange->count_packed(packed_bytes_);
  }
  for (auto& phase : phases_) {
    if (phase.reads_destination) addresses.source = addresses.destination;
    run(execution, addresses, phase, exchange ? &*exchange : nullptr);
  }
  if (exchange) exchange->finish();
  return true;
}

/// Rounds use two halves of the scratch memory in turn.
ShortExchange::Addresses ShortExchange::of_round(std::size_t number, const PreparedPhase& phase,
                                                 const Addresses& addresses) {
  auto result = addresses;
  if (number % 2 == 0) return result;
  result.packed += phase.outgoing_bytes;
  result.arrived += phase.incoming_bytes;
  return result;
}

void ShortExchange::run(const Execution& execution, const Addresses& addresses,
                        PreparedPhase& phase, Exchange* exchange) {
  phase.packing.begin(phase.packed_bytes, phase.choices.pack);
  const auto post = [&](std::size_t r) {
    if (r >= phase.rounds.size()) return;
    this->post(execution, of_round(r, phase, addresses), phase.packing.stores(), phase.rounds[r],
               exchange);
  };
  post(0);
  copy_own(execution, addresses, phase);
  for (std::size_t r = 0; r < phase.rounds.size(); ++r) {
    post(r + 1);
    auto& round = phase.rounds[r];
    const auto here = of_round(r, phase, addresses);
    const auto take_some = [&] { take(execution, here, phase.choices, round, exchange); };
    const auto are_complete = [&] { return is_complete(round, *exchange); };
    if (exchange != nullptr) exchange->wait(std::ref(are_complete), std::ref(take_some));
    take_some();
  }
  finish_host(execution);
  phase.packing.end(phase.choices.pack);
}

void ShortExchange::post(const Execution& execution, const Addresses& addresses, Stores stores,
                         Round& round, Exchange* exchange) {
  auto* const received_in = round.reductions.empty() ? addresses.destination : addresses.arrived;
  for (auto& parcel : round.incoming) {
    auto* const to =
        parcel.is_packed() ? addresses.arrived + parcel.packing.place : received_in + parcel.offset;
    parcel.ticket = exchange->receive(to, parcel.bytes, rank(parcel.peer));
    parcel.is_unpacked = !parcel.is_packed();
  }
  for (auto& reduction : round.reductions) reduction.is_reduced = false;
  for (auto& parcel : round.outgoing) {
    const auto* from = addresses.source + parcel.offset;
    if (parcel.is_packed()) {
      auto* const to = addresses.packed + parcel.packing.place;
      for (auto& part : parcel.packing.parts)
        part.copy.run(execution, addresses.source + part.in_array, to + part.in_packing, stores);
      from = to;
    }
    parcel.ticket = exchange->send(from, parcel.bytes, rank(parcel.peer));
  }
}

void ShortExchange::copy_own(const Execution& execution, const Addresses& addresses,
                             PreparedPhase& phase) {
  for (auto& block : phase.own) {
    const auto* const from = addresses.source + block.from;
    auto* const to = addresses.destination + block.to;
    if (from == to) continue;
    const TimedWrite write(block.bytes, phase.choices.own);
    block.copy.run(execution, from, to, write.stores());
  }
}

bool ShortExchange::is_complete(const Round& round, const Exchange& exchange) {
  const auto is_complete = [&](const Parcel& parcel) {
    return exchange.is_complete(parcel.ticket);
  };
  return std::ranges::all_of(round.incoming, is_complete) &&
         std::ranges::all_of(round.outgoing, is_complete);
}

void ShortExchange::take(const Execution& execution, const Addresses& addresses,
                         StoreChoices& choices, Round& round, const Exchange* exchange) {
  const auto is_here = [&](const Parcel& parcel) { return exchange->is_complete(parcel.ticket); };
  for (auto& parcel : round.incoming) {
    if (parcel.is_unpacked || !is_here(parcel)) continue;
    const TimedWrite write(parcel.bytes, choices.unpack);
    const auto* const from = addresses.arrived + parcel.packing.place;
    for (auto& part : parcel.packing.parts)
      part.copy.run(execution, from + part.in_packing, addresses.destination + part.in_array,
                    write.stores());
    parcel.is_unpacked = true;
  }
  for (auto& reduction : round.reductions) {
    const auto terms =
        std::span(round.incoming)
            .subspan(reduction.first_parcel, reduction.last_parcel - reduction.first_parcel);
    if (!reduction.is_reduced && std::ranges::all_of(terms, is_here))
      reduce(execution, addresses, choices.reduce, reduction);
  }
}

void ShortExchange::reduce(const Execution& execution, const Addresses& addresses,
                           StoreChoice& choice, PreparedReduction& reduction) {
  auto& loops = *reduction.loops;
  loops.destination.data = addresses.destination + reduction.to;
  for (std::size_t t = 0; t < reduction.terms.size(); ++t) {
    const auto& term = reduction.terms[t];
    auto* const own = const_cast<std::byte*>(addresses.source);
    loops.operands[t].data = (term.is_own ? own : addresses.arrived) + term.offset;
  }
  const TimedWrite write(product(loops.extents) * loops.element_size, choice);
  loops.stores = write.stores();
  run_reduction(execution, op_, destination_.type.kind, MemorySpace::host, reduction.loops);
  finish_host(execution);
  reduction.is_reduced = true;
}

}  // namespace tessera::detail
