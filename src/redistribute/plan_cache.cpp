// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include <tessera/engine/detail/recycler.hpp>
#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/redistribute/redistribute.hpp>

#include "engine/run.hpp"
#include "plan/movement.hpp"
#include "redistribute/tuning.hpp"

namespace tessera {
namespace detail {
namespace {

/// Holds the settings that were asked for, and the Redistributor that was given.
struct Request {
  PlanSettings settings;
  Redistributor redistributor;
};

/// Holds the plans of one mesh by key, of which the oldest is forgotten first, and the scratch
/// memory that they share, one execution at a time. Changes only in collective calls.
struct PlanCache {
  std::unordered_multimap<std::uint64_t, Redistributor> plans;
  std::deque<std::uint64_t> keys;
  std::optional<Request> last;  ///< most calls repeat the last request
  std::shared_ptr<Scratch> scratch = std::make_shared<Scratch>();
  std::vector<std::shared_ptr<Scratch>> spare_scratch;
  Recycler recycler{default_recycling_limit};
  CostModel cost_model;
};

bool matches(const RedistributePlan& plan, const DTensorSpec& source, const DTensorSpec& target,
             ElementType type) {
  return plan.source() == source && plan.target() == target && plan.element_type() == type;
}

/// Holds a Redistributor that is cached, or that was made now and is not kept yet.
struct Found {
  Redistributor redistributor;
  bool is_new;
};

Found find_or_make(PlanCache& cache, const Meshes& meshes, const DTensorSpec& source,
                   const DTensorSpec& target, ElementType type, const PlanSettings& asked) {
  auto& last = cache.last;
  if (last && last->settings == asked && matches(last->redistributor.plan(), source, target, type))
    return {last->redistributor, false};
  auto settings = asked;
  settings.cost_model = cache.cost_model;
  settings.ranks_per_node = meshes.source.ranks_per_node();
  const auto [begin, end] = cache.plans.equal_range(plan_hash(source, target, type, settings));
  for (auto entry = begin; entry != end; ++entry)
    if (matches(entry->second.plan(), source, target, type) &&
        PlanAccess::movement(entry->second.plan()).settings == settings) {
      last = Request{asked, entry->second};
      return {entry->second, false};
    }
  auto plan = PlanAccess::make(source, target, type, settings);
  return {RedistributorAccess::make(std::move(plan), meshes, cache.scratch), true};
}

void keep(PlanCache& cache, const Redistributor& redistributor) {
  log(LogLevel::info, "redistribute", [&] {
    auto text = redistributor.explain();
    if (text.ends_with('\n')) text.pop_back();
    return "new plan: " + text;
  });
  if (cache.keys.size() == largest_cache) {
    cache.plans.erase(cache.plans.find(cache.keys.front()));
    cache.keys.pop_front();
  }
  cache.keys.push_back(PlanAccess::hash(redistributor.plan()));
  cache.plans.emplace(cache.keys.back(), redistributor);
}

/// Calls check(redistributor) before the ranks compare the call, so that all of them throw an error
/// of this rank.
template <class Check>
Redistributor agreed_after(Operation& operation, const RedistributeCall& call, const Meshes& meshes,
                           const PlanSettings& settings, const Check& check) {
  auto& cache = MeshAccess::attachment<PlanCache>(meshes.source);
  const auto found = find_or_make(cache, meshes, call.source, call.target, call.type, settings);
  check(found.redistributor);
  if (call.change.is_none())
    RedistributorAccess::agree(found.redistributor, operation, call);
  else
    operation.agree(hash_combine(PlanAccess::hash(found.redistributor.plan()), call.change.hash()),
                    call);
  if (found.is_new) keep(cache, found.redistributor);
  return found.redistributor;
}

}  // namespace

void set_cost_model(const DeviceMesh& mesh, const CostModel& model) {
  auto& cache = MeshAccess::attachment<PlanCache>(mesh);
  cache.cost_model = model;
  cache.last.reset();
}

Recycler& recycler(const DeviceMesh& mesh) {
  return MeshAccess::attachment<PlanCache>(mesh).recycler;
}

std::shared_ptr<Scratch> take_scratch(const DeviceMesh& mesh) {
  auto& spare = MeshAccess::attachment<PlanCache>(mesh).spare_scratch;
  if (spare.empty()) return std::make_shared<Scratch>();
  auto result = std::move(spare.back());
  spare.pop_back();
  return result;
}

void give_back(const DeviceMesh& mesh, std::shared_ptr<Scratch> scratch) {
  MeshAccess::attachment<PlanCache>(mesh).spare_scratch.push_back(std::move(scratch));
}

Redistributor cached_redistributor(const Meshes& meshes, const DTensorSpec& source,
                                   const DTensorSpec& target, ElementType type,
                                   const PlanSettings& settings) {
  auto& cache = MeshAccess::attachment<PlanCache>(meshes.source);
  const auto found = find_or_make(cache, meshes, source, target, type, settings);
  if (found.is_new) keep(cache, found.redistributor);
  return found.redistributor;
}

Redistributor agreed_redistributor(Operation& operation, const RedistributeCall& call,
                                   const Meshes& meshes, const PlanSettings& settings) {
  return agreed_after(operation, call, meshes, settings, [](const Redistributor&) {});
}

IntoMemory agreed_into_memory(Operation& operation, const RedistributeCall& call,
                              const Meshes& meshes, const PlanSettings& settings,
                              const Execution& execution, const Pieces& pieces) {
  ArrayRef source;
  auto redistributor =
      agreed_after(operation, call, meshes, settings, [&](const Redistributor& found) {
        source = RedistributorAccess::readable(found, execution, pieces.source, pieces.destination,
                                               call.change.scaling);
      });
  return {std::move(redistributor), source};
}

}  // namespace detail

void set_recycling(const DeviceMesh& mesh, std::int64_t bytes) {
  require(bytes >= 0, [&] {
    return fmt::format("set_recycling: expected a number of bytes, 0 or more, got {}", bytes);
  });
  detail::recycler(mesh).set_limit(bytes);
}

}  // namespace tessera
