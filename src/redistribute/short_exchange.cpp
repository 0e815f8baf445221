// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <utility>

#include <tessera/redistribute/detail/execute.hpp>
#include <tessera/redistribute/detail/run.hpp>
#include <tessera/redistribute/detail/short_exchange.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/named_region.hpp>

namespace tessera::detail {
namespace {

/// Sent, received and kept. Of more than that, what stays had better be copied in parts, so that
/// messages go on meanwhile.
constexpr std::int64_t most_bytes_in_all = 4 << 20;

bool reduces(const std::vector<Step>& steps, std::size_t phase) {
  return steps.front().kind == StepKind::reduce && phase == 0;
}

/// Where `bytes` lie after what ends at `end`, which moves on.
std::ptrdiff_t placed(std::int64_t& end, std::int64_t bytes) {
  return std::exchange(end, end + aligned_bytes(bytes));
}

}  // namespace

bool ShortExchange::may_serve(const RedistributePlan& plan, const std::vector<Step>& steps,
                              const Group& group) {
  if (steps.size() != 1 || plan.partial_target() || !steps.front().communicates) return false;
  const auto type = plan.element_type();
  const auto peers = peers_of(group, type);
  if (peers.staging == Staging::all_memory) return false;
  const BoundPlan unbound{plan, steps, {}, {}};
  const auto sizes = chunk_sizes({&unbound, 1}, group.communicator);
  std::int64_t sum = 0;
  const auto& phases = steps.front().phases;
  for (std::size_t p = 0; p < phases.size(); ++p)
    for (const auto* blocks : {&phases[p].send, &phases[p].receive}) {
      if (blocks->size() > static_cast<std::size_t>(sizes.messages_at_once)) return false;
      for (const auto& block : *blocks) {
        const auto bytes = block.box.size() * type.size;
        sum += bytes;
        const bool is_one_message =
            peers.lane(block.peer) < 0 && bytes <= sizes.of(reduces(steps, p), -1);
        if (block.peer != group.position && !is_one_message) return false;
      }
    }
  return sum <= most_bytes_in_all;
}

ShortExchange::ShortExchange(const BoundPlan& bound, const Group& group)
    : group_(group),
      source_(bound.source),
      destination_(bound.destination),
      op_(bound.plan.reduce_op()),
      is_possible_(source_.space == MemorySpace::host && destination_.space == MemorySpace::host) {
  if (is_possible_) prepare(bound);
}

bool ShortExchange::is_for(const BoundPlan& bound) const {
  return are_alike(source_, bound.source) && are_alike(destination_, bound.destination);
}

void ShortExchange::prepare(const BoundPlan& bound) {
  const auto order = bound.plan.options().wire_order;
  auto source = bound.source;
  PhaseNumber number;
  for (const auto& phase : bound.steps.front().phases) {
    if (intermediate_bytes({&bound, 1}, number, group_.position) > 0) is_possible_ = false;
    if (!is_possible_) return;
    std::byte* unused = nullptr;
    const auto result = result_of_phase(bound, number, group_.position, unused);
    auto& prepared = phases_.emplace_back(PreparedPhase{number.phase > 0});
    prepare_to_send(phase, source, order, prepared);
    if (reduces(bound.steps, number.phase))
      prepare_to_reduce(phase, source, result, bound.plan, prepared);
    else
      prepare_to_receive(phase, source, result, order, prepared);
    packed_bytes_ += prepared.packed_bytes;
    outgoing_bytes_ = std::max(outgoing_bytes_, prepared.outgoing_bytes);
    incoming_bytes_ = std::max(incoming_bytes_, prepared.incoming_bytes);
    source = result;
    number = number.next(bound.steps);
  }
}

PreparedCopy ShortExchange::prepared_copy(const ArrayRef& from, const ArrayRef& to) {
  largest_copy_ = std::max(largest_copy_, to.bytes());
  return PreparedCopy(CopyJob{from, to});
}

void ShortExchange::prepare_to_send(const Phase& phase, const ArrayRef& source, WireOrder order,
                                    PreparedPhase& prepared) {
  const auto* const start = prepared.reads_destination ? destination_.data : source_.data;
  for (const auto& block : phase.send) {
    const auto from = part_on_wire(source, phase.source, block.box, order);
    auto& parcel =
        prepared.outgoing.emplace_back(Parcel{block.peer, from.bytes(), from.data - start});
    if (from.is_row_major()) continue;
    parcel.packing = Packing{placed(prepared.outgoing_bytes, parcel.bytes),
                             prepared_copy(from, in_slot(nullptr, from))};
    prepared.packed_bytes += parcel.bytes;
  }
  std::ranges::stable_sort(prepared.outgoing, {}, [&](const Parcel& parcel) {
    return distance(group_.position, parcel.peer, group_.size());
  });
}

void ShortExchange::prepare_to_receive(const Phase& phase, const ArrayRef& source,
                                       const ArrayRef& destination, WireOrder order,
                                       PreparedPhase& prepared) {
  const auto* const start = prepared.reads_destination ? destination_.data : source_.data;
  for (const auto& block : phase.receive) {
    const auto to = part_on_wire(destination, phase.destination, block.box, order);
    const auto offset = to.data - destination_.data;
    if (block.peer == group_.position) {
      const auto from = part_on_wire(source, phase.source, block.box, order);
      prepared.own.push_back({from.data - start, offset, to.bytes(), prepared_copy(from, to)});
      continue;
    }
    auto& parcel = prepared.incoming.emplace_back(Parcel{block.peer, to.bytes(), offset});
    if (to.is_row_major()) continue;
    parcel.packing = Packing{placed(prepared.incoming_bytes, parcel.bytes),
                             prepared_copy(in_slot(nullptr, to), to)};
  }
}

void ShortExchange::prepare_to_reduce(const Phase& phase, const ArrayRef& source,
                                      const ArrayRef& destination, const RedistributePlan& plan,
                                      PreparedPhase& prepared) {
  const auto order = plan.options().wire_order;
  const auto terms_of_each = static_cast<std::size_t>(phase.terms);
  for (std::size_t first = 0; first < phase.receive.size(); first += terms_of_each) {
    const auto to = part_on_wire(destination, phase.destination, phase.receive[first].box, order);
    std::vector<ArrayRef> arrays;
    std::vector<Term> terms;
    const auto first_parcel = prepared.incoming.size();
    for (auto i = first; i < first + terms_of_each; ++i) {
      const auto& block = phase.receive[i];
      if (block.peer == group_.position) {
        arrays.push_back(part_on_wire(source, phase.source, block.box, order));
        terms.push_back({true, arrays.back().data - source_.data});
        continue;
      }
      arrays.push_back(in_slot(nullptr, to));
      terms.push_back({false, placed(prepared.incoming_bytes, to.bytes())});
      prepared.incoming.push_back({block.peer, to.bytes(), terms.back().offset});
    }
    if (turned_terms(arrays, to) > 0) is_possible_ = false;
    prepared.reductions.push_back(
        {to.data - destination_.data, std::move(terms),
         std::make_shared<Reduction>(make_reduction(arrays, to, plan.divisor())), first_parcel,
         prepared.incoming.size()});
  }
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
  Exchange exchange(group_.communicator, TraceKind::exchange, operation, group_.size());
  exchange.count_packed(packed_bytes_);
  for (auto& phase : phases_) {
    if (phase.reads_destination) addresses.source = addresses.destination;
    run(execution, addresses, phase, exchange);
  }
  exchange.finish();
  return true;
}

void ShortExchange::run(const Execution& execution, const Addresses& addresses,
                        PreparedPhase& phase, Exchange& exchange) {
  phase.packing.begin(phase.packed_bytes, phase.choices.pack);
  post(execution, addresses, phase, exchange);
  copy_own(execution, addresses, phase);
  const auto take_some = [&] { take(execution, addresses, phase, &exchange); };
  exchange.wait(std::ref(take_some));
  take(execution, addresses, phase, nullptr);
  finish_host(execution);
  phase.packing.end(phase.choices.pack);
}

void ShortExchange::post(const Execution& execution, const Addresses& addresses,
                         PreparedPhase& phase, Exchange& exchange) {
  auto* const received_in = phase.reductions.empty() ? addresses.destination : addresses.arrived;
  for (auto& parcel : phase.incoming) {
    auto* const to =
        parcel.packing ? addresses.arrived + parcel.packing->place : received_in + parcel.offset;
    parcel.ticket = exchange.receive(to, parcel.bytes, rank(parcel.peer));
    parcel.is_unpacked = !parcel.packing;
  }
  for (auto& reduction : phase.reductions) reduction.is_reduced = false;
  for (auto& parcel : phase.outgoing) {
    const auto* from = addresses.source + parcel.offset;
    if (parcel.packing) {
      auto* const to = addresses.packed + parcel.packing->place;
      parcel.packing->copy.run(execution, from, to, phase.packing.stores());
      from = to;
    }
    exchange.send(from, parcel.bytes, rank(parcel.peer));
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

void ShortExchange::take(const Execution& execution, const Addresses& addresses,
                         PreparedPhase& phase, const Exchange* exchange) {
  const auto is_here = [&](const Parcel& parcel) {
    return exchange == nullptr || exchange->is_complete(parcel.ticket);
  };
  for (auto& parcel : phase.incoming) {
    if (parcel.is_unpacked || !is_here(parcel)) continue;
    const TimedWrite write(parcel.bytes, phase.choices.unpack);
    parcel.packing->copy.run(execution, addresses.arrived + parcel.packing->place,
                             addresses.destination + parcel.offset, write.stores());
    parcel.is_unpacked = true;
  }
  for (auto& reduction : phase.reductions) {
    const auto terms =
        std::span(phase.incoming)
            .subspan(reduction.first_parcel, reduction.last_parcel - reduction.first_parcel);
    if (!reduction.is_reduced && std::ranges::all_of(terms, is_here))
      reduce(execution, addresses, phase, reduction);
  }
}

void ShortExchange::reduce(const Execution& execution, const Addresses& addresses,
                           PreparedPhase& phase, PreparedReduction& reduction) {
  auto& loops = *reduction.loops;
  loops.destination.data = addresses.destination + reduction.to;
  for (std::size_t t = 0; t < reduction.terms.size(); ++t) {
    const auto& term = reduction.terms[t];
    auto* const own = const_cast<std::byte*>(addresses.source);
    loops.terms[t].data = (term.is_own ? own : addresses.arrived) + term.offset;
  }
  const TimedWrite write(product(loops.extents) * loops.element_size, phase.choices.reduce);
  loops.stores = write.stores();
  run_reduction(execution, op_, destination_.type.kind, MemorySpace::host, reduction.loops);
  finish_host(execution);
  reduction.is_reduced = true;
}

}  // namespace tessera::detail
