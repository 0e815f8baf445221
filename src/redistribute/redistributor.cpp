// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>
#include <tessera/tensor/dtensor.hpp>

#include "node/nodes.hpp"
#include "plan/movement.hpp"
#include "redistribute/executor.hpp"
#include "tensor/overlap.hpp"

namespace tessera {

struct Redistributor::State {
  RedistributePlan plan;
  detail::Executor executor;
  detail::OperationLog* calls;
  Extents source_shape;  ///< extents of this rank's local piece
  Extents target_shape;  ///< likewise
  bool is_on_source;
  bool is_on_target;
  AgreedCall agreed = {};
};

namespace {

/// Throws on this rank unless `array` can be its local piece of `spec`.
void require_piece(int mesh_rank, const DTensorSpec& spec, const Extents& expected,
                   ElementType type, const ArrayRef& array, const char* what) {
  require(array.type == type, [&] {
    return fmt::format("Redistributor: expected a {} of {}, got {}", what, to_string(type),
                       to_string(array.type));
  });
  require(array.extents == expected || (array.size() == 0 && product(expected) == 0), [&] {
    return fmt::format(
        "Redistributor: expected a {} View of shape {} on mesh rank {}, the piece of {}, got {}",
        what, to_string(expected), mesh_rank, to_string(spec), to_string(array.extents));
  });
}

void require_mesh(const DeviceMesh& mesh, const DTensorSpec& spec, const char* which) {
  require<MeshMismatch>(mesh.layout() == spec.layout(), [&] {
    const auto [expected, got] = detail::told_apart(spec.layout(), mesh.layout());
    return fmt::format("expected the plan's mesh {}, got mesh {} as its {}", expected, got, which);
  });
}

/// Returns the extents of this rank's local piece; empty off the mesh.
Extents own_shape(const DeviceMesh& mesh, const DTensorSpec& spec) {
  return mesh.coordinate() ? spec.local_shape(mesh.rank()) : Extents();
}

bool ranges_overlap(const ArrayRef& a, const ArrayRef& b) {
  const auto first = detail::address_range(a);
  const auto second = detail::address_range(b);
  return first.begin < second.end && second.begin < first.end;
}

/// Returns true if only the first phase reads the source, and later phases alone replace it by what
/// was reduced; or if all data stays.
bool can_run_in_place(const detail::RedistributorAccess::State& state) {
  const auto& steps = state.executor.steps();
  if (steps.empty() || state.plan.partial_target()) return false;
  const auto& first = steps.front().phases.front();
  if (first.source != steps.back().phases.back().destination) return false;
  const auto phases = steps.size() + steps.front().phases.size() - 1;
  const bool all_stays =
      phases == 1 && first.send.empty() && first.receive.size() <= 1 && !steps.front().communicates;
  return steps.front().kind == StepKind::reduce ? phases > 1 : all_stays;
}

}  // namespace

Redistributor detail::RedistributorAccess::make(RedistributePlan plan, const Meshes& meshes,
                                                std::shared_ptr<Scratch> scratch) {
  const auto& source = meshes.source;
  const auto& target = meshes.target;
  require_mesh(source, plan.source(), "source");
  require_mesh(target, plan.target(), "target");
  require<MeshMismatch>(source.communicator() == target.communicator(), [&] {
    return fmt::format("expected meshes of one communicator, got mesh {} and mesh {}",
                       to_string(source), to_string(target));
  });
  const auto& communicator = source.communicator();
  const auto& ranks = plan.ranks();
  const auto own = std::ranges::find(ranks, communicator.rank());
  const int position = own == ranks.end() ? -1 : static_cast<int>(own - ranks.begin());
  auto* const calls = calls_of(meshes);
  const Group group{communicator, ranks, position};
  std::vector<Step> steps;
  if (position >= 0) steps = plan.steps(position);
  const auto& movement = PlanAccess::movement(plan);
  const auto source_shape = own_shape(source, plan.source());
  const auto target_shape = own_shape(target, plan.target());
  // Made in place: the executor stays where it is.
  return Redistributor(std::shared_ptr<State>(
      new State{std::move(plan), Executor(movement, std::move(steps), group, std::move(scratch)),
                calls, source_shape, target_shape, source.coordinate().has_value(),
                target.coordinate().has_value()}));
}

Redistributor RedistributePlan::bind(const DeviceMesh& mesh) const {
  return bind(mesh, mesh);
}

Redistributor RedistributePlan::bind(const DeviceMesh& source, const DeviceMesh& target) const {
  return detail::named("bind", [&] {
    return detail::RedistributorAccess::make(*this, {source, target},
                                             std::make_shared<detail::Scratch>());
  });
}

const RedistributePlan& Redistributor::plan() const {
  return state_->plan;
}

std::string Redistributor::explain() const {
  const auto& plan = state_->plan;
  const auto& group = state_->executor.group();
  const auto text = plan.explain();
  if (group.position < 0) return text + "  this rank is not on the mesh\n";
  const auto peers = detail::peers_of(group, detail::PlanAccess::movement(plan));
  std::set<int> by_memory;
  std::set<int> by_messages;
  for (const auto& step : state_->executor.steps())
    for (const auto& phase : step.phases)
      for (const auto* blocks : {&phase.send, &phase.receive})
        for (const auto& block : *blocks)
          if (block.peer != group.position)
            (peers.lane(block.peer) >= 0 ? by_memory : by_messages).insert(block.peer);
  std::string chunks;
  const auto& node = detail::nodes_of(group.communicator);
  if (!by_memory.empty())
    chunks = fmt::format(", in chunks of at most {} bytes",
                         peers.slots != nullptr ? peers.slots->slot_bytes
                                                : node.window->shared.window.shape().slot_bytes);
  return text + fmt::format("  rank {}: {} peers through {} of the node{}; {} by messages\n",
                            group.position, by_memory.size(),
                            peers.slots != nullptr ? "the device slots" : "the window", chunks,
                            by_messages.size());
}

namespace detail {

void RedistributorAccess::execute(const Redistributor& redistributor, const Execution& execution,
                                  const ArrayRef& source, const ArrayRef& destination,
                                  const char* operation) {
  const auto& state = *redistributor.state_;
  if (state.executor.group().position < 0) return;
  state.executor.group().communicator.handle();
  collectively(state.calls, "Redistributor::execute", [&](Operation& call) {
    const auto& plan = state.plan;
    const int rank = state.executor.group().position;
    if (state.is_on_source)
      require_piece(rank, plan.source(), state.source_shape, plan.element_type(), source, "source");
    if (state.is_on_target) {
      require_piece(rank, plan.target(), state.target_shape, plan.element_type(), destination,
                    "destination");
      require_writable(destination);
    }
    const RedistributeCall text{"Redistributor::execute", plan.source(), plan.target(),
                                plan.element_type(), PlanAccess::movement(plan).settings};
    const auto from = readable(redistributor, execution, source, destination);
    agree(redistributor, call, text);
    run_plan(redistributor, execution, from, destination, operation);
  });
}

ArrayRef RedistributorAccess::readable(const Redistributor& redistributor,
                                       const Execution& execution, const ArrayRef& source,
                                       const ArrayRef& destination, const Scaling& scaling) {
  const bool is_change = source.type != destination.type || !scaling.is_copy();
  if (source.type == destination.type ? !share_memory(source, destination)
                                      : !ranges_overlap(source, destination))
    return source;
  const bool are_same = source.data == destination.data && source.extents == destination.extents &&
                        source.strides == destination.strides;
  if (are_same && !is_change && can_run_in_place(*redistributor.state_)) return source;
  const auto limit = PlanAccess::movement(redistributor.state_->plan).messages.limit;
  require(source.bytes() <= limit, [&] {
    return fmt::format(
        "expected a destination that shares no memory with the source, or extra_memory of at least "
        "{} bytes for a copy of the source, got {}",
        source.bytes(), limit);
  });
  auto& scratch = redistributor.state_->executor.scratch();
  scratch.hand_over(execution);
  const auto copied = row_major(scratch.source.reserve(source.bytes(), source.space), source.type,
                                source.extents, source.space);
  copy(execution, source, copied);
  return copied;
}

void RedistributorAccess::run_plan(const Redistributor& redistributor, const Execution& execution,
                                   const ArrayRef& source, const ArrayRef& destination,
                                   const char* operation, const Scaling& scaling) {
  auto& state = *redistributor.state_;
  log(LogLevel::debug, "redistribute",
      [&] { return std::string(operation) + ": " + to_string(state.plan); });
  auto here = bound(redistributor, source, destination);
  here.scaling = scaling;
  state.executor.run(execution, here, operation);
}

BoundPlan RedistributorAccess::bound(const Redistributor& redistributor, const ArrayRef& source,
                                     const ArrayRef& destination) {
  auto& state = *redistributor.state_;
  return state.executor.bound(state.is_on_source ? source : nothing_like(source),
                              state.is_on_target ? destination : nothing_like(destination));
}

PendingMove RedistributorAccess::move(const Redistributor& redistributor, const Pieces& pieces) {
  const auto& state = redistributor.state_;
  return {std::shared_ptr<Executor>(state, &state->executor),
          state->is_on_source ? pieces.source : nothing_like(pieces.source),
          state->is_on_target ? pieces.destination : nothing_like(pieces.destination)};
}

bool RedistributorAccess::can_replace(const Redistributor& redistributor, const ArrayRef& source) {
  if (!can_run_in_place(*redistributor.state_)) return false;
  require_separate_elements(source);
  return true;
}

Scratch& RedistributorAccess::scratch(const Redistributor& redistributor) {
  return redistributor.state_->executor.scratch();
}

const Group& RedistributorAccess::group(const Redistributor& redistributor) {
  return redistributor.state_->executor.group();
}

void RedistributorAccess::agree(const Redistributor& redistributor, Operation& call,
                                const CallText& text) {
  auto& state = *redistributor.state_;
  call.agree(PlanAccess::hash(state.plan), text, state.agreed);
}

void run_together(const Execution& execution, std::span<const Redistributor> redistributors,
                  std::span<const Pieces> pieces, const char* operation) {
  std::vector<BoundPlan> plans;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    plans.push_back(
        RedistributorAccess::bound(redistributors[i], pieces[i].source, pieces[i].destination));
  Scratch& scratch = RedistributorAccess::scratch(redistributors.front());
  const auto& group = RedistributorAccess::group(redistributors.front());
  for (const auto& alike : of_same_kinds(plans))
    keeping(
        group.communicator, [&] { run_plans(execution, alike, group, scratch, operation); },
        [&] { return taken_from(scratch); });
}

std::uint64_t Change::hash() const {
  return hash_combine(hash_combine(hash_of(scaling), source), destination);
}

std::string RedistributeCall::operator()() const {
  auto text = fmt::format("{} of {} from {} to {}{}", function,
                          to_string(change.is_none() ? type : change.source), to_string(source),
                          to_string(target), in_words(settings));
  if (change.source != change.destination) text += ", as " + to_string(change.destination);
  if (!change.scaling.is_copy()) text += ", " + to_string(change.scaling);
  return text;
}

}  // namespace detail

}  // namespace tessera
