// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <tessera/comm/exchange.hpp>
#include <tessera/redistribute/detail/execute.hpp>
#include <tessera/redistribute/detail/run.hpp>
#include <tessera/redistribute/detail/short_exchange.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/named_region.hpp>

namespace tessera::detail {
namespace {

/// Sent, received and kept. Of more than that, blocks may be written past the caches, and unpacked
/// and reduced while others arrive.
constexpr std::int64_t most_bytes_in_all = 512 << 10;

bool is_reduction(const std::vector<Step>& steps) {
  return steps.front().kind == StepKind::reduce;
}

/// Where `bytes` lie after what ends at `end`, which moves on.
std::ptrdiff_t placed(std::int64_t& end, std::int64_t bytes) {
  return std::exchange(end, end + aligned_bytes(bytes));
}

}  // namespace

bool ShortExchange::may_serve(const RedistributePlan& plan, const std::vector<Step>& steps,
                              const Group& group) {
  if (steps.size() != 1 || steps.front().phases.size() != 1 || plan.partial_target() ||
      !steps.front().communicates)
    return false;
  const auto type = plan.element_type();
  const auto peers = peers_of(group, type);
  if (peers.staging == Staging::all_memory) return false;
  const BoundPlan unbound{plan, steps, {}, {}};
  const auto sizes = chunk_sizes({&unbound, 1}, group.communicator);
  const auto most = sizes.of(is_reduction(steps), -1);
  const auto& phase = steps.front().phases.front();
  std::int64_t sum = 0;
  for (const auto* blocks : {&phase.send, &phase.receive}) {
    if (blocks->size() > static_cast<std::size_t>(sizes.messages_at_once)) return false;
    for (const auto& block : *blocks) {
      const auto bytes = block.box.size() * type.size;
      sum += bytes;
      const bool is_one_message = peers.lane(block.peer) < 0 && bytes <= most;
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
  if (!is_possible_) return;
  const auto& phase = bound.steps.front().phases.front();
  const auto order = bound.plan.options().wire_order;
  prepare_to_send(phase, order);
  if (is_reduction(bound.steps))
    prepare_to_reduce(phase, order, bound.plan.divisor());
  else
    prepare_to_receive(phase, order);
}

bool ShortExchange::is_for(const BoundPlan& bound) const {
  return are_alike(source_, bound.source) && are_alike(destination_, bound.destination);
}

PreparedCopy ShortExchange::prepared(const ArrayRef& from, const ArrayRef& to) {
  largest_copy_ = std::max(largest_copy_, to.bytes());
  return PreparedCopy(CopyJob{from, to});
}

void ShortExchange::prepare_to_send(const Phase& phase, WireOrder order) {
  for (const auto& block : phase.send) {
    const auto from = part_on_wire(source_, phase.source, block.box, order);
    auto& parcel =
        outgoing_.emplace_back(Parcel{block.peer, from.bytes(), from.data - source_.data});
    if (from.is_row_major()) continue;
    parcel.packing =
        Packing{placed(outgoing_bytes_, parcel.bytes), prepared(from, in_slot(nullptr, from))};
    packed_bytes_ += parcel.bytes;
  }
  std::ranges::stable_sort(outgoing_, {}, [&](const Parcel& parcel) {
    return distance(group_.position, parcel.peer, group_.size());
  });
}

void ShortExchange::prepare_to_receive(const Phase& phase, WireOrder order) {
  for (const auto& block : phase.receive) {
    const auto to = part_on_wire(destination_, phase.destination, block.box, order);
    const auto offset = to.data - destination_.data;
    if (block.peer == group_.position) {
      const auto from = part_on_wire(source_, phase.source, block.box, order);
      own_.push_back({from.data - source_.data, offset, prepared(from, to)});
      continue;
    }
    auto& parcel = incoming_.emplace_back(Parcel{block.peer, to.bytes(), offset});
    if (to.is_row_major()) continue;
    parcel.packing =
        Packing{placed(incoming_bytes_, parcel.bytes), prepared(in_slot(nullptr, to), to)};
  }
}

void ShortExchange::prepare_to_reduce(const Phase& phase, WireOrder order, std::int64_t divisor) {
  const auto terms_of_each = static_cast<std::size_t>(phase.terms);
  for (std::size_t first = 0; first < phase.receive.size(); first += terms_of_each) {
    const auto to = part_on_wire(destination_, phase.destination, phase.receive[first].box, order);
    std::vector<ArrayRef> arrays;
    std::vector<Term> terms;
    for (auto i = first; i < first + terms_of_each; ++i) {
      const auto& block = phase.receive[i];
      if (block.peer == group_.position) {
        arrays.push_back(part_on_wire(source_, phase.source, block.box, order));
        terms.push_back({true, arrays.back().data - source_.data});
        continue;
      }
      arrays.push_back(in_slot(nullptr, to));
      terms.push_back({false, placed(incoming_bytes_, to.bytes())});
      incoming_.push_back({block.peer, to.bytes(), terms.back().offset});
    }
    if (turned_terms(arrays, to) > 0) is_possible_ = false;
    reductions_.push_back(
        {to.data - destination_.data, std::move(terms), make_reduction(arrays, to, divisor)});
  }
}

bool ShortExchange::run(const Execution& execution, const BoundPlan& bound, Scratch& scratch,
                        const char* operation) {
  if (!is_possible_ || is_for_threads(execution, largest_copy_)) return false;
  const NamedRegion region(operation);
  execution.fence("tessera::redistribute: before reading the source");
  scratch.hand_over(execution);
  auto* const packed = scratch.outgoing.reserve(outgoing_bytes_, MemorySpace::host);
  auto* const arrived = scratch.incoming.reserve(incoming_bytes_, MemorySpace::host);
  auto* const source = bound.source.data;
  auto* const destination = bound.destination.data;
  auto* const received_in = reductions_.empty() ? destination : arrived;

  Exchange exchange(group_.communicator, TraceKind::exchange, operation, group_.size());
  exchange.count_packed(packed_bytes_);
  const auto rank = [&](int peer) { return group_.ranks[static_cast<std::size_t>(peer)]; };
  for (const auto& parcel : incoming_) {
    auto* const to = parcel.packing ? arrived + parcel.packing->place : received_in + parcel.offset;
    exchange.receive(to, parcel.bytes, rank(parcel.peer));
  }
  for (auto& parcel : outgoing_) {
    auto* from = source + parcel.offset;
    if (parcel.packing) {
      auto* const to = packed + parcel.packing->place;
      parcel.packing->copy.run(execution, from, to, Stores::cached);
      from = to;
    }
    exchange.send(from, parcel.bytes, rank(parcel.peer));
  }
  for (auto& block : own_) {
    const auto* const from = source + block.from;
    auto* const to = destination + block.to;
    if (from != to) block.copy.run(execution, from, to, Stores::cached);
  }
  exchange.wait();
  for (auto& parcel : incoming_)
    if (parcel.packing)
      parcel.packing->copy.run(execution, arrived + parcel.packing->place,
                               destination + parcel.offset, Stores::cached);
  for (auto& reduction : reductions_) reduce(execution, reduction, bound, arrived);
  finish_host(execution);
  exchange.finish();
  return true;
}

void ShortExchange::reduce(const Execution& execution, PreparedReduction& reduction,
                           const BoundPlan& bound, std::byte* arrived) const {
  auto& loops = reduction.loops;
  loops.destination.data = bound.destination.data + reduction.to;
  for (std::size_t t = 0; t < reduction.terms.size(); ++t) {
    const auto& term = reduction.terms[t];
    loops.terms[t].data = (term.is_own ? bound.source.data : arrived) + term.offset;
  }
  run_reduction(execution, op_, destination_.type.kind, MemorySpace::host, loops);
}

}  // namespace tessera::detail
