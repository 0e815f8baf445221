// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "plan/cells.hpp"
#include "plan/planner.hpp"
#include "plan/specs.hpp"
#include "plan/transfer_cost.hpp"
#include "plan/tuning.hpp"

namespace tessera::detail {

namespace {

/// Returns whether coordinate 0 alone holds the value, while the other ranks hold the identity.
bool keeps_on_first(ReduceOp op) {
  return op != ReduceOp::min && op != ReduceOp::max && op != ReduceOp::avg;
}

/// Describes a path of a reduction: directly into the target's local pieces, or into shares along
/// one tensor dim that are gathered afterwards.
struct Reduction {
  std::optional<DTensorSpec> shares;
  double seconds;
};

/// Returns the cost model for messages along these mesh dims.
CostModel model_along(const std::vector<int>& mesh_dims, CostModel model, const NodeGrid* nodes) {
  if (nodes == nullptr || !nodes->is_between_nodes(mesh_dims)) return model;
  model.seconds_per_byte += nodes->ranks_per_node() * model.seconds_per_node_byte;
  model.seconds_per_message = model.seconds_per_inter_node_message;
  return model;
}

/// Returns whether nothing but the reduced mesh dims changes: then scatter and gather together are
/// one all-reduce or reduce-scatter.
bool is_one_reduction(const DTensorSpec& source, const DTensorSpec& target,
                      const std::vector<int>& reduced) {
  for (int d = 0; d < source.layout().ndim(); ++d)
    if (!contains(reduced, d) && source.placements()[at(d)] != target.placements()[at(d)])
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

Reduction cheapest_reduction(const DTensorSpec& source, const DTensorSpec& target,
                             const std::vector<int>& reduced, int contributions, ElementType type,
                             const PlanSettings& options, const NodeGrid* nodes) {
  const double target_bytes = largest_piece_bytes(target, type);
  const auto model = model_along(reduced, options.cost_model, nodes);
  const auto seconds_for = [&](double piece_bytes, double gathered_bytes, int messages) {
    return (piece_bytes * (contributions - 1) + gathered_bytes) * model.seconds_per_byte +
           piece_bytes * contributions * model.seconds_per_reduced_byte +
           messages * model.seconds_per_message;
  };
  Reduction best{{}, seconds_for(target_bytes, 0.0, contributions - 1)};
  const auto replicated = replicated_along(source, reduced);
  const bool is_in_place = is_one_reduction(source, target, reduced);
  const double limit = memory_limit(source, target, type, options);
  for (const int k : slowest_first(source, options)) {
    if (!can_split_further(replicated, k)) continue;
    auto shares = split_further(replicated, k, reduced);
    const double share_bytes = largest_piece_bytes(shares, type);
    if (!is_in_place && share_bytes > limit) continue;
    const double gathered_bytes = std::max(target_bytes - share_bytes, 0.0);
    const double seconds = seconds_for(share_bytes, gathered_bytes, 2 * (contributions - 1));
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

/// Returns the path of `transfer` by one mesh dim after another. It moves more bytes in all, but
/// each rank has only the ranks along one mesh dim as peers at a time. Returns `transfer` itself if
/// it has few peers.
std::vector<Transfer> staged_transfers(const Transfer& transfer) {
  const auto& from = transfer.from.placements();
  const auto& to = transfer.to.placements();
  if (most_peers(transfer) < least_peers_for_stages) return {transfer};
  std::vector<Transfer> result;
  std::vector<Placement> current(from.begin(), from.end());
  DTensorSpec previous = transfer.from;
  for (int d = 0; d < transfer.from.layout().ndim(); ++d) {
    if (from[at(d)] == to[at(d)]) continue;
    current[at(d)] = to[at(d)];
    if (!go_together(current)) return {transfer};
    auto next = spec_with(transfer.from, Placements(current));
    result.push_back({.from = previous, .to = next});
    previous = std::move(next);
  }
  if (result.empty()) return {transfer};
  result.back().to = transfer.to;
  return result;
}

/// Returns the paths other than the direct transfer.
std::vector<std::vector<Transfer>> other_paths(const Transfer& transfer,
                                               const PlanSettings& options, const NodeGrid* nodes) {
  std::vector<std::vector<Transfer>> paths;
  if (!transfer.first_only.empty()) return paths;
  paths.push_back(staged_transfers(transfer));
  if (nodes == nullptr || nodes->dims_within().empty()) return paths;
  if (!transfer.from.has_boxes() || !transfer.to.has_boxes()) return paths;
  const auto finer = nodes->finer(transfer);
  paths.push_back(by_way_of_nodes(finer, *nodes));
  for (const int k : slowest_first(transfer.to, options))
    paths.push_back(shared_on_nodes(finer, *nodes, k));
  return paths;
}

/// Returns whether intermediate results respect the limit; messages have that much memory besides.
/// If the last transfer moves nothing, what it starts from lies in the target already.
bool fits(std::span<const Transfer> path, ElementType type, double limit) {
  const auto& last = path.back();
  const bool is_last_in_target = keeps_own({.from = last.to, .to = last.from});
  double bytes = 0;
  for (const auto& transfer : path.first(path.size() - (is_last_in_target ? 2 : 1)))
    bytes += largest_piece_bytes(transfer.to, type);
  return bytes <= limit;
}

/// Returns the direct transfer, unless another path costs much less.
std::vector<Transfer> cheapest_path(const Transfer& transfer, ElementType type,
                                    const PlanSettings& options, const NodeGrid* nodes,
                                    double limit) {
  std::vector<Transfer> best{transfer};
  if (!communicates(transfer)) return best;
  const auto& model = options.cost_model;
  const auto cost = cost_of(transfer, type, nodes);
  double least = least_gain * seconds_of({&cost, 1}, model);
  for (auto& path :
       other_paths(transfer, options, cost.inter_node_messages > 0 ? nodes : nullptr)) {
    if (path.size() == 1 || !fits(path, type, limit)) continue;
    std::vector<TransferCost> costs;
    for (const auto& part : path) costs.push_back(cost_of(part, type, nodes));
    const double seconds = seconds_of(costs, model);
    if (seconds >= least) continue;
    least = seconds;
    best = std::move(path);
  }
  return best;
}

std::vector<PlannedStep> one_step_each(std::vector<Transfer> transfers) {
  std::vector<PlannedStep> steps;
  for (auto& transfer : transfers)
    steps.push_back({StepKind::exchange, false, {std::move(transfer)}});
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

namespace {

/// Returns the source's mesh dims in `dims` that shard tensor dim `k`, in split order.
std::vector<int> sharding_dims(const DTensorSpec& source, int k, const std::vector<int>& dims) {
  std::vector<int> result;
  for (const int d : source.split(at(k)).mesh_dims)
    if (contains(dims, d)) result.push_back(d);
  return result;
}

/// Returns `spec`, whose tensor dim `k` nothing splits, with the split of `source`.
DTensorSpec with_split_of(const DTensorSpec& source, int k, const DTensorSpec& spec) {
  std::vector<Placement> placements(spec.placements().begin(), spec.placements().end());
  auto positions = spec.placements().split_positions();
  for (const int d : source.split(at(k)).mesh_dims) {
    placements[at(d)] = source.placements()[at(d)];
    positions[at(d)] = source.placements().split_position(d);
  }
  auto boundaries = spec.boundaries();
  boundaries[at(k)] = source.boundaries()[at(k)];
  return make_spec(spec.layout(), Placements(std::move(placements), std::move(positions)),
                   spec.shape(), std::move(boundaries));
}

}  // namespace

PartialDims partial_dims(const DTensorSpec& source, const DTensorSpec& target) {
  PartialDims dims;
  for (int d = 0; d < source.layout().ndim(); ++d) {
    const auto before = source.placements()[at(d)];
    const auto after = target.placements()[at(d)];
    if (before == after) continue;
    if (before.is_partial()) dims.reduced.push_back(d);
    if (after.is_partial()) dims.made.push_back(d);
  }
  if (dims.made.empty()) return dims;
  const auto replicated = replicated_along(target, dims.made);
  for (const int d : dims.made) {
    const auto before = source.placements()[at(d)];
    if (before.is_shard() && can_split_further(replicated, before.dim()))
      dims.shared.push_back(d);
    else if (keeps_on_first(target.placements()[at(d)].op()))
      dims.first_only.push_back(d);
  }
  return dims;
}

DTensorSpec target_distribution(const DTensorSpec& source, const DTensorSpec& target,
                                const PartialDims& dims) {
  if (dims.made.empty()) return target;
  auto result = replicated_along(target, dims.made);
  for (int k = 0; k < target.tensor_dims(); ++k) {
    const auto shares = sharding_dims(source, k, dims.shared);
    if (shares.empty()) continue;
    const bool is_alone = result.split(at(k)).mesh_dims.empty();
    result = is_alone && shares == source.split(at(k)).mesh_dims ? with_split_of(source, k, result)
                                                                 : split_further(result, k, shares);
  }
  return result;
}

std::vector<PlannedStep> planned_steps(const DTensorSpec& source, const DTensorSpec& target,
                                       const PartialDims& dims, ElementType type,
                                       const PlanSettings& options, const NodeGrid* nodes) {
  Transfer last{.from = source, .to = target, .first_only = dims.first_only};
  const auto limit = memory_limit(source, target, type, options);
  if (dims.reduced.empty()) return one_step_each(cheapest_path(last, type, options, nodes, limit));
  last.reduced_dims = dims.reduced;
  last.op = fold_op(source.placements()[at(dims.reduced.front())].op());
  last.divisor = divisor_of(source, dims.reduced);
  const auto reduction =
      cheapest_reduction(source, target, dims.reduced, last.contributions(), type, options, nodes);
  if (!reduction.shares) return {{StepKind::reduce, false, {std::move(last)}}};
  Transfer scatter = last;
  scatter.to = *reduction.shares;
  scatter.first_only.clear();
  const Transfer gather{.from = *reduction.shares, .to = target, .first_only = dims.first_only};
  auto path = cheapest_path(gather, type, options, nodes, limit);
  if (is_one_reduction(source, target, dims.reduced) && path.size() == 1)
    return {{StepKind::reduce, false, {std::move(scatter), std::move(path.front())}}};
  auto steps = one_step_each(std::move(path));
  steps.insert(steps.begin(), {StepKind::reduce, false, {std::move(scatter)}});
  return steps;
}

/// Reduces contributions into shares if a tensor dim can be split: shares travel once, instead of
/// copies.
PathAcross path_across(const DTensorSpec& source, const DTensorSpec& target,
                       const PlanSettings& options) {
  PathAcross path;
  std::vector<int> reduced;
  for (int d = 0; d < source.layout().ndim(); ++d)
    if (source.placements()[at(d)].is_partial()) reduced.push_back(d);
  auto from = source;
  if (!reduced.empty()) {
    Transfer transfer{
        .from = source, .to = replicated_along(source, reduced), .reduced_dims = reduced};
    transfer.op = fold_op(source.placements()[at(reduced.front())].op());
    transfer.divisor = divisor_of(source, reduced);
    const auto replicated = transfer.to;
    for (const int k : slowest_first(source, options)) {
      if (!can_split_further(replicated, k)) continue;
      if (auto shares = split_further(replicated, k, reduced);
          size_of(shares) < size_of(transfer.to))
        transfer.to = std::move(shares);
    }
    from = transfer.to;
    path.steps.push_back({StepKind::reduce, false, {std::move(transfer)}});
  }
  Transfer transfer{.from = from};
  for (int d = 0; d < target.layout().ndim(); ++d) {
    const auto placement = target.placements()[at(d)];
    if (!placement.is_partial()) continue;
    path.made.push_back(d);
    if (keeps_on_first(placement.op())) transfer.first_only.push_back(d);
  }
  transfer.to = replicated_along(target, path.made);
  path.steps.push_back({StepKind::exchange, false, {std::move(transfer)}});
  return path;
}

}  // namespace tessera::detail
