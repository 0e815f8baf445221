// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "plan/cells.hpp"
#include "plan/hop_load.hpp"
#include "plan/planner.hpp"
#include "plan/specs.hpp"
#include "plan/tuning.hpp"

namespace tessera::detail {

namespace {

/// Returns whether coordinate 0 alone holds the value, while the other ranks hold the identity.
bool keeps_on_first(ReduceOp op) {
  return op != ReduceOp::min && op != ReduceOp::max && op != ReduceOp::avg;
}

/// Describes a way to reduce: directly into the target's local pieces, or into shares along one
/// tensor dim that are gathered afterwards.
struct Reduction {
  std::optional<DTensorSpec> shares;
  double seconds;
};

/// Returns the cost model for messages along these mesh dims.
CostModel model_along(const std::vector<int>& mesh_dims, CostModel model, const NodeGrid* nodes) {
  if (nodes == nullptr || !nodes->is_between_nodes(mesh_dims)) return model;
  model.seconds_per_byte += nodes->ranks_per_node() * model.seconds_per_node_byte;
  model.seconds_per_message = model.seconds_per_far_message;
  return model;
}

/// Returns whether nothing but the reduced mesh dims changes: then scatter and gather together are
/// one all-reduce or reduce-scatter.
bool is_one_reduction(const DTensorSpec& source, const DTensorSpec& goal,
                      const std::vector<int>& reduced) {
  for (int d = 0; d < source.layout().ndim(); ++d)
    if (!contains(reduced, d) && source.placements()[at(d)] != goal.placements()[at(d)])
      return false;
  return true;
}

/// Returns the tensor dims, the slowest on the wire first: shares along that one are contiguous.
std::vector<int> slowest_first(const DTensorSpec& spec, const PlanSettings& options) {
  std::vector<int> dims(at(spec.tensor_dims()));
  std::iota(dims.begin(), dims.end(), 0);
  if (options.wire_order == WireOrder::first_dim_fastest) std::ranges::reverse(dims);
  return dims;
}

/// Returns the number of elements of the largest local piece.
std::int64_t size_of(const DTensorSpec& spec) {
  return product(spec.largest_local_shape());
}

Reduction cheapest_reduction(const DTensorSpec& source, const DTensorSpec& goal,
                             const std::vector<int>& reduced, int terms, ElementType type,
                             const PlanSettings& options, const NodeGrid* nodes) {
  const double goal_bytes = largest_piece_bytes(goal, type);
  const auto model = model_along(reduced, options.cost_model, nodes);
  const auto seconds_for = [&](double piece_bytes, double gathered_bytes, int messages) {
    return (piece_bytes * (terms - 1) + gathered_bytes) * model.seconds_per_byte +
           piece_bytes * terms * model.seconds_per_reduced_byte +
           messages * model.seconds_per_message;
  };
  Reduction best{{}, seconds_for(goal_bytes, 0.0, terms - 1)};
  const auto whole = replicated_along(source, reduced);
  const bool is_in_place = is_one_reduction(source, goal, reduced);
  const double limit = memory_limit(source, goal, type, options);
  for (const int k : slowest_first(source, options)) {
    auto shares = split_further(whole, k, reduced);
    const double share_bytes = largest_piece_bytes(shares, type);
    if (!is_in_place && share_bytes > limit) continue;
    const double gathered_bytes = std::max(goal_bytes - share_bytes, 0.0);
    const double seconds = seconds_for(share_bytes, gathered_bytes, 2 * (terms - 1));
    if (seconds < best.seconds) best = {std::move(shares), seconds};
  }
  return best;
}

std::int64_t divisor_of(const DTensorSpec& source, const std::vector<int>& reduced) {
  std::int64_t divisor = 1;
  for (const int d : reduced)
    if (source.placements()[at(d)].is_partial(ReduceOp::avg))
      divisor *= source.layout().shape()[at(d)];
  return divisor;
}

/// Returns the op that combines contributions: sum for avg, as the division comes at the end.
ReduceOp fold_op(ReduceOp op) {
  return op == ReduceOp::avg ? ReduceOp::sum : op;
}

/// Returns the path of `hop` by one mesh dim after another. It moves more bytes in all, but each
/// rank has only the ranks along one mesh dim as peers at a time. Returns `hop` itself if it has
/// few peers.
std::vector<Hop> staged_hops(const Hop& hop) {
  const auto& from = hop.from.placements();
  const auto& to = hop.to.placements();
  if (most_peers(hop) < least_peers_for_stages) return {hop};
  std::vector<Hop> result;
  std::vector<Placement> current(from.begin(), from.end());
  DTensorSpec reached = hop.from;
  for (int d = 0; d < hop.from.layout().ndim(); ++d) {
    if (from[at(d)] == to[at(d)]) continue;
    current[at(d)] = to[at(d)];
    auto next = spec_with(hop.from, Placements(current));
    result.push_back({.from = reached, .to = next});
    reached = std::move(next);
  }
  if (result.empty()) return {hop};
  result.back().to = hop.to;
  return result;
}

/// Returns the paths other than the direct transfer.
std::vector<std::vector<Hop>> other_ways(const Hop& hop, const PlanSettings& options,
                                         const NodeGrid* nodes) {
  std::vector<std::vector<Hop>> ways;
  if (!hop.first_only.empty()) return ways;
  ways.push_back(staged_hops(hop));
  if (nodes == nullptr || nodes->dims_within().empty()) return ways;
  const auto finer = nodes->finer(hop);
  ways.push_back(by_way_of_nodes(finer, *nodes));
  for (const int k : slowest_first(hop.to, options))
    ways.push_back(shared_on_nodes(finer, *nodes, k));
  return ways;
}

/// Returns whether intermediate results respect the limit; messages have that much memory besides.
/// If the last transfer moves nothing, what it starts from lies in the target already.
bool fits(std::span<const Hop> way, ElementType type, double limit) {
  const auto& last = way.back();
  const bool is_last_in_target = keeps_own({.from = last.to, .to = last.from});
  double bytes = 0;
  for (const auto& hop : way.first(way.size() - (is_last_in_target ? 2 : 1)))
    bytes += largest_piece_bytes(hop.to, type);
  return bytes <= limit;
}

/// Returns the direct transfer, unless another path costs much less.
std::vector<Hop> cheapest_way(const Hop& hop, ElementType type, const PlanSettings& options,
                              const NodeGrid* nodes, double limit) {
  std::vector<Hop> best{hop};
  if (!communicates(hop)) return best;
  const auto& model = options.cost_model;
  const auto load = load_of(hop, type, nodes);
  double least = least_gain * seconds_of({&load, 1}, model);
  for (auto& way : other_ways(hop, options, load.far_messages > 0 ? nodes : nullptr)) {
    if (way.size() == 1 || !fits(way, type, limit)) continue;
    std::vector<HopLoad> loads;
    for (const auto& part : way) loads.push_back(load_of(part, type, nodes));
    const double cost = seconds_of(loads, model);
    if (cost >= least) continue;
    least = cost;
    best = std::move(way);
  }
  return best;
}

std::vector<PlannedStep> one_step_each(std::vector<Hop> hops) {
  std::vector<PlannedStep> steps;
  for (auto& hop : hops) steps.push_back({StepKind::exchange, false, {std::move(hop)}});
  return steps;
}

}  // namespace

double memory_limit(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                    const PlanSettings& options) {
  if (options.extra_memory > 0) return static_cast<double>(options.extra_memory);
  const auto largest =
      std::max(largest_piece_bytes(source, type), largest_piece_bytes(target, type));
  return default_extra_memory + largest / extra_memory_share;
}

PartialDims partial_dims(const Placements& source, const Placements& target) {
  PartialDims dims;
  for (int d = 0; d < std::ssize(source); ++d) {
    const auto before = source[at(d)];
    const auto after = target[at(d)];
    if (before == after) continue;
    if (before.is_partial()) dims.reduced.push_back(d);
    if (!after.is_partial()) continue;
    dims.made.push_back(d);
    if (!before.is_shard() && keeps_on_first(after.op())) dims.first_only.push_back(d);
  }
  return dims;
}

DTensorSpec reached(const DTensorSpec& source, const DTensorSpec& target, const PartialDims& dims) {
  auto result = replicated_along(target, dims.made);
  for (int k = 0; k < target.tensor_dims(); ++k) {
    std::vector<int> shares;
    for (const int d : source.split(at(k)).mesh_dims)
      if (contains(dims.made, d)) shares.push_back(d);
    if (shares.empty()) continue;
    const bool is_alone = result.split(at(k)).mesh_dims.empty();
    result = split_further(result, k, shares);
    if (!is_alone || shares != source.split(at(k)).mesh_dims) continue;
    auto boundaries = result.boundaries();
    boundaries[at(k)] = source.boundaries()[at(k)];
    result = make_spec(result.layout(), result.placements(), result.shape(), std::move(boundaries));
  }
  return result;
}

std::vector<PlannedStep> planned_steps(const DTensorSpec& source, const DTensorSpec& goal,
                                       const PartialDims& dims, ElementType type,
                                       const PlanSettings& options, const NodeGrid* nodes) {
  Hop last{.from = source, .to = goal, .first_only = dims.first_only};
  const auto limit = memory_limit(source, goal, type, options);
  if (dims.reduced.empty()) return one_step_each(cheapest_way(last, type, options, nodes, limit));
  last.term_dims = dims.reduced;
  last.op = fold_op(source.placements()[at(dims.reduced.front())].op());
  last.divisor = divisor_of(source, dims.reduced);
  const auto reduction =
      cheapest_reduction(source, goal, dims.reduced, last.terms(), type, options, nodes);
  if (!reduction.shares) return {{StepKind::reduce, false, {std::move(last)}}};
  Hop scatter = last;
  scatter.to = *reduction.shares;
  scatter.first_only.clear();
  const Hop gather{.from = *reduction.shares, .to = goal, .first_only = dims.first_only};
  auto way = cheapest_way(gather, type, options, nodes, limit);
  if (is_one_reduction(source, goal, dims.reduced) && way.size() == 1)
    return {{StepKind::reduce, false, {std::move(scatter), std::move(way.front())}}};
  auto steps = one_step_each(std::move(way));
  steps.insert(steps.begin(), {StepKind::reduce, false, {std::move(scatter)}});
  return steps;
}

/// Reduces contributions into shares if a tensor dim can be split: shares travel once, instead of
/// copies.
WayAcross way_across(const DTensorSpec& source, const DTensorSpec& target,
                     const PlanSettings& options) {
  WayAcross way;
  std::vector<int> reduced;
  for (int d = 0; d < source.layout().ndim(); ++d)
    if (source.placements()[at(d)].is_partial()) reduced.push_back(d);
  auto from = source;
  if (!reduced.empty()) {
    Hop hop{.from = source, .to = replicated_along(source, reduced), .term_dims = reduced};
    hop.op = fold_op(source.placements()[at(reduced.front())].op());
    hop.divisor = divisor_of(source, reduced);
    const auto whole = hop.to;
    for (const int k : slowest_first(source, options))
      if (auto shares = split_further(whole, k, reduced); size_of(shares) < size_of(hop.to))
        hop.to = std::move(shares);
    from = hop.to;
    way.steps.push_back({StepKind::reduce, false, {std::move(hop)}});
  }
  Hop hop{.from = from};
  for (int d = 0; d < target.layout().ndim(); ++d) {
    const auto placement = target.placements()[at(d)];
    if (!placement.is_partial()) continue;
    way.made.push_back(d);
    if (keeps_on_first(placement.op())) hop.first_only.push_back(d);
  }
  hop.to = replicated_along(target, way.made);
  way.steps.push_back({StepKind::exchange, false, {std::move(hop)}});
  return way;
}

}  // namespace tessera::detail
