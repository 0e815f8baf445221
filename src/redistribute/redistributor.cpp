// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <deque>
#include <unordered_map>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/redistribute/detail/execute.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

struct Redistributor::State {
  RedistributePlan plan;
  Group group;
  std::vector<Step> steps;
  std::shared_ptr<detail::Scratch> scratch;
};

namespace {

/// Throws on this rank unless `array` can be its piece of `spec`.
void require_piece(int mesh_rank, const DTensorSpec& spec, ElementType type, const ArrayRef& array,
                   const char* what) {
  const auto expected = spec.local_shape(mesh_rank);
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

}  // namespace

Redistributor::Redistributor(RedistributePlan plan, const DeviceMesh& mesh)
    : Redistributor(std::move(plan), mesh, std::make_shared<detail::Scratch>()) {}

Redistributor::Redistributor(RedistributePlan plan, const DeviceMesh& mesh,
                             std::shared_ptr<detail::Scratch> scratch) {
  require<MeshMismatch>(mesh.layout() == plan.source().layout(), [&] {
    return fmt::format("bind: expected the plan's mesh {}, got mesh {}",
                       to_string(plan.source().layout()), to_string(mesh));
  });
  std::vector<Step> steps;
  if (mesh.coordinate()) steps = plan.steps(mesh.rank());
  const Group group{mesh.communicator(), plan.source().layout().ranks(), mesh.rank()};
  state_ =
      std::make_shared<State>(State{std::move(plan), group, std::move(steps), std::move(scratch)});
}

Redistributor RedistributePlan::bind(const DeviceMesh& mesh) const {
  return Redistributor(*this, mesh);
}

const RedistributePlan& Redistributor::plan() const {
  return state_->plan;
}

void Redistributor::execute(const Execution& execution, const ArrayRef& source,
                            const ArrayRef& destination, const char* operation) const {
  auto& state = *state_;
  if (state.group.position < 0) return;
  require_piece(state.group.position, state.plan.source(), state.plan.element_type(), source,
                "source");
  require_piece(state.group.position, state.plan.target(), state.plan.element_type(), destination,
                "destination");
  detail::execute(execution, state.plan, state.steps, state.group, source, destination,
                  *state.scratch, operation);
  finish(execution, operation);
}

namespace detail {

namespace {

constexpr std::size_t largest_cache = 256;

/// Plans of one mesh by key, the oldest forgotten first, and the scratch that all of them use in
/// turn. Changes in collective calls only.
struct PlanCache {
  std::unordered_multimap<std::uint64_t, Redistributor> plans;
  std::deque<std::uint64_t> keys;
  std::shared_ptr<Scratch> scratch = std::make_shared<Scratch>();
};

std::uint64_t key_of(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                     const RedistributeOptions& options) {
  auto key = hash_combine(source.hash(), target.hash());
  key = hash_combine(key, static_cast<std::uint64_t>(type.kind));
  key = hash_combine(key, static_cast<std::uint64_t>(type.size));
  return hash_combine(key, options.fast_reductions ? 1 : 0);
}

bool matches(const RedistributePlan& plan, const DTensorSpec& source, const DTensorSpec& target,
             ElementType type, const RedistributeOptions& options) {
  return plan.source() == source && plan.target() == target && plan.element_type() == type &&
         plan.options() == options;
}

}  // namespace

Redistributor cached_redistributor(const DeviceMesh& mesh, const DTensorSpec& source,
                                   const DTensorSpec& target, ElementType type,
                                   const RedistributeOptions& options, const char* function) {
  auto& cache = mesh.attachment<PlanCache>();
  const auto key = key_of(source, target, type, options);
  const auto [begin, end] = cache.plans.equal_range(key);
  for (auto entry = begin; entry != end; ++entry)
    if (matches(entry->second.plan(), source, target, type, options)) return entry->second;
  Redistributor made(make_plan(source, target, type, options, function), mesh, cache.scratch);
  if (cache.keys.size() == largest_cache) {
    cache.plans.erase(cache.plans.find(cache.keys.front()));
    cache.keys.pop_front();
  }
  cache.keys.push_back(key);
  return cache.plans.emplace(key, std::move(made))->second;
}

}  // namespace detail
}  // namespace tessera
