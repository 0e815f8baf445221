// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "plan/busiest_rank.hpp"
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

/// Returns the cost model for messages along these mesh dims.
CostModel model_along(const std::vector<int>& mesh_dims, CostModel model, const NodeGrid* nodes) {
  if (nodes == nullptr || !nodes->is_between_nodes(mesh_dims)) return model;
  model.seconds_per_byte += nodes->ranks_per_node() * model.seconds_per_node_byte;
  model.seconds_per_message = model.seconds_per_inter_node_message;
  return model;
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

/// Splits tensor dim `k` of `spec` further along mesh dims, if its shardings admit that.
std::optional<DTensorSpec> shared_along(const DTensorSpec& spec, int k,
                                        const std::vector<int>& mesh_dims) {
  if (!can_split_further(spec, k)) return {};
  return mesh_dims.empty() ? spec : split_further(spec, k, mesh_dims);
}

/// Lists mesh dims by what a reduction to the target may do along them.
struct MeshDimsOfReduction {
  std::vector<int> reduced;    ///< Partial before
  std::vector<int> scattered;  ///< part of `reduced`: the target shards
  std::vector<int> shared;     ///< the rest of `reduced`
  std::vector<int> divided;    ///< Replicate before, and the target does not shard
  std::vector<int> sliced;     ///< Replicate before, and the target shards
  std::vector<int> gathered;   ///< sharded before, and the target does not shard
  /// Says that nothing moves along the other mesh dims: then the reduction and what follows are one
  /// all-reduce or reduce-scatter, of slices perhaps.
  bool is_one_step = true;

  MeshDimsOfReduction(const DTensorSpec& source, const DTensorSpec& target,
                      const std::vector<int>& reduced_dims)
      : reduced(reduced_dims) {
    for (int d = 0; d < source.layout().ndim(); ++d) {
      const auto before = source.placements()[at(d)];
      const auto after = target.placements()[at(d)];
      if (contains(reduced, d)) {
        (after.is_shard() ? scattered : shared).push_back(d);
        continue;
      }
      is_one_step = is_one_step && (before == after || before.is_replicate());
      if (before.is_replicate() && after.is_shard()) sliced.push_back(d);
      if (before.is_replicate() && !after.is_shard()) divided.push_back(d);
      if (before.is_shard() && !after.is_shard()) gathered.push_back(d);
    }
  }
};

/// Returns `spec` with each of these mesh dims splitting the tensor dim that it splits in `other`;
/// nothing if that cannot be.
std::optional<DTensorSpec> split_as_in(const DTensorSpec& other, const std::vector<int>& mesh_dims,
                                       DTensorSpec spec) {
  for (int k = 0; k < spec.tensor_dims(); ++k) {
    std::vector<int> splitting;
    for (const int d : mesh_dims)
      if (other.placements()[at(d)].is_shard(k)) splitting.push_back(d);
    if (splitting.empty()) continue;
    auto next = shared_along(spec, k, splitting);
    if (!next) return {};
    spec = std::move(*next);
  }
  return spec;
}

/// Returns the distributions into which contributions may be reduced, and from which the target is
/// made by gathering, slicing or one exchange. `looks_closely`: also those that pay only if the
/// cost of each is known exactly.
///
/// Each divides the work of the reduction: along the reduced mesh dims, each rank has a share,
/// along a tensor dim or as the target says. What the source replicates and the target shards is
/// sliced before.
std::vector<DTensorSpec> ends_of_reduction(const DTensorSpec& source, const DTensorSpec& target,
                                           const MeshDimsOfReduction& dims,
                                           const PlanSettings& options, bool looks_closely) {
  std::vector<DTensorSpec> ends;
  const auto add = [&](std::optional<DTensorSpec> end) {
    if (end && std::ranges::find(ends, *end) == ends.end()) ends.push_back(std::move(*end));
  };
  const auto tensor_dims = slowest_first(source, options);
  const auto add_shares = [&](const std::optional<DTensorSpec>& spec, std::vector<int> mesh_dims) {
    if (!spec) return;
    mesh_dims.insert(mesh_dims.end(), dims.divided.begin(), dims.divided.end());
    for (const int k : tensor_dims) {
      add(shared_along(*spec, k, mesh_dims));
      if (mesh_dims.empty()) return;
    }
  };
  const auto base = replicated_along(source, dims.reduced);
  for (const int k : tensor_dims) add(shared_along(base, k, dims.reduced));
  if (!looks_closely) return ends;
  const auto sliced = split_as_in(target, dims.sliced, base);
  if (!dims.sliced.empty() || !dims.divided.empty()) add_shares(sliced, dims.reduced);
  if (sliced && !dims.scattered.empty())
    add_shares(split_as_in(target, dims.scattered, *sliced), dims.shared);
  if (dims.is_one_step) return ends;
  auto not_sharded = dims.shared;
  for (int d = 0; d < target.layout().ndim(); ++d)
    if (target.placements()[at(d)].is_partial() && !contains(not_sharded, d))
      not_sharded.push_back(d);
  add_shares(split_as_in(source, dims.gathered, replicated_along(target, not_sharded)),
             dims.shared);
  return ends;
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
  if (!transfer.first_only.empty() || !transfer.kept_dims.empty()) return paths;
  paths.push_back(staged_transfers(transfer));
  if (nodes == nullptr || nodes->dims_within().empty()) return paths;
  if (!transfer.from.has_boxes() || !transfer.to.has_boxes()) return paths;
  const auto finer = nodes->finer(transfer);
  paths.push_back(by_way_of_nodes(finer, *nodes));
  for (const int k : slowest_first(transfer.to, options))
    paths.push_back(shared_on_nodes(finer, *nodes, k));
  return paths;
}

/// Returns whether every rank's piece of `end` lies in its piece of `target` as one box, so that it
/// needs no memory of its own.
bool lies_in(const DTensorSpec& target, const DTensorSpec& end) {
  bool result = keeps_own({.from = target, .to = end});
  for (std::size_t d = 0; result && d < end.shape().size(); ++d)
    result = end.split(d).has_intervals() || agree(end.split(d), target.split(d));
  return result;
}

/// Returns whether intermediate results respect the limit; messages have that much memory besides.
/// If the last transfer moves nothing, what it starts from lies in the target already.
bool fits(std::span<const Transfer> path, ElementType type, double limit) {
  const auto& last = path.back();
  const bool is_last_in_target = lies_in(last.to, last.from);
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
  double least = least_gain * seconds_of({&cost, 1}, 1, model);
  for (auto& path :
       other_paths(transfer, options, cost.inter_node_messages > 0 ? nodes : nullptr)) {
    if (path.size() == 1 || !fits(path, type, limit)) continue;
    std::vector<TransferCost> costs;
    for (const auto& part : path) costs.push_back(cost_of(part, type, nodes));
    const double seconds = seconds_of(costs, costs.size(), model);
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

double memory_limit(double largest_piece, const PlanSettings& options) {
  if (options.extra_memory > 0) return static_cast<double>(options.extra_memory);
  return default_extra_memory + largest_piece / extra_memory_share;
}

double memory_limit(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                    const PlanSettings& options) {
  return memory_limit(
      std::max(largest_piece_bytes(source, type), largest_piece_bytes(target, type)), options);
}

PartialDims partial_dims(const Placements& source, const Placements& target) {
  PartialDims dims;
  for (int d = 0; d < std::ssize(source); ++d) {
    const auto before = source[at(d)];
    const auto after = target[at(d)];
    if (before == after) continue;
    if (before.is_partial()) dims.reduced.push_back(d);
    if (after.is_partial()) dims.made.push_back(d);
  }
  return dims;
}

namespace {

/// Returns the transfer to `to`, whose mesh dims `made` become Partial: each rank keeps its shard
/// along those that `from` shards; of replicas, those of coordinate 0 are the contribution.
Transfer transfer_to(DTensorSpec from, const DTensorSpec& to, const std::vector<int>& made) {
  Transfer transfer{.from = std::move(from), .to = to};
  for (const int d : made) {
    if (transfer.from.placements()[at(d)].is_shard())
      transfer.kept_dims.push_back(d);
    else if (keeps_on_first(to.placements()[at(d)].op()))
      transfer.first_only.push_back(d);
  }
  return transfer;
}

/// Returns the transfer with one slice of each replica along the mesh dims that become Partial,
/// where that costs less: then not coordinate 0 alone fetches and holds the value.
Transfer with_slices(Transfer direct, const std::vector<int>& made, ElementType type,
                     const PlanSettings& options) {
  if (direct.first_only.empty() || !can_look_at_each_rank(direct)) return direct;
  const auto seconds = [&](const Transfer& transfer) {
    const auto cost = cost_of(transfer, type, nullptr);
    return cost.intra_node_bytes > 0 ? seconds_of({&cost, 1}, 1, options.cost_model) : 0.0;
  };
  auto best = direct;
  double least = seconds(direct);
  if (least == 0) return direct;
  for (const int k : slowest_first(direct.from, options)) {
    auto slices = shared_along(direct.from, k, direct.first_only);
    if (!slices) continue;
    auto sliced = transfer_to(std::move(*slices), direct.to, made);
    sliced.taken_from = direct.from;
    if (const double needed = seconds(sliced); needed < least) {
      least = needed;
      best = std::move(sliced);
    }
  }
  return best;
}

/// Describes a reduction, and the way from its result to the target.
struct ReductionPath {
  Transfer scatter;
  std::optional<Transfer> gather = {};
  double seconds = 0;
};

/// Estimates the seconds of a reduction into `end` and of what follows, from the sizes of pieces.
double estimated_seconds(const Transfer& direct, const DTensorSpec& end, ElementType type,
                         const CostModel& model) {
  const int contributions = direct.contributions();
  const double piece = largest_piece_bytes(end, type);
  const double gathered = std::max(largest_piece_bytes(direct.to, type) - piece, 0.0);
  const int messages = (end == direct.to ? 1 : 2) * (contributions - 1);
  return (piece * (contributions - 1) + gathered) * model.seconds_per_byte +
         piece * contributions * model.seconds_per_reduced_byte +
         messages * model.seconds_per_message;
}

/// Returns the least seconds that a reduction into `end` and what follows can take, from the sizes of
/// pieces. What becomes a contribution may stay where it is.
double least_seconds(const Transfer& direct, const DTensorSpec& end, bool is_one_step,
                     bool makes_contributions, ElementType type, const CostModel& model) {
  const int contributions = direct.contributions();
  const double piece = largest_piece_bytes(end, type);
  const double gathered =
      makes_contributions ? 0 : std::max(largest_piece_bytes(direct.to, type) - piece, 0.0);
  TransferCost scatter;
  scatter.intra_node_bytes = piece * (contributions - 1);
  scatter.reduced_bytes = piece * contributions;
  scatter.intra_node_messages = piece > 0 ? contributions - 1 : 0;
  TransferCost gather;
  gather.intra_node_bytes = gathered;
  const std::array costs{scatter, gather};
  return seconds_of(costs, gathered > 0 && !is_one_step ? 2 : 1, model);
}

/// Plans the reduction `direct` from Partial straight into the target, or into a distribution from
/// which the target is made.
ReductionPath cheapest_reduction(const Transfer& direct, const MeshDimsOfReduction& dims,
                                 const std::vector<int>& made, ElementType type,
                                 const PlanSettings& options, const NodeGrid* nodes, double limit) {
  const auto& source = direct.from;
  const auto& target = direct.to;
  const bool looks_closely = nodes == nullptr && can_look_at_each_rank(direct);
  const auto model =
      looks_closely ? options.cost_model : model_along(dims.reduced, options.cost_model, nodes);
  const auto steps = [&](const std::vector<TransferCost>& costs) {
    return dims.is_one_step ? 1 : costs.size();
  };
  // Seconds from `most` on are not found out to the end.
  const auto seconds_of_path = [&](const ReductionPath& path, double most) {
    if (!looks_closely) return estimated_seconds(direct, path.scatter.to, type, model);
    std::vector<TransferCost> costs{cost_of(path.scatter, type, nodes)};
    if (path.gather && seconds_of(costs, steps(costs), model) < most) {
      const auto cost = cost_of(*path.gather, type, nodes);
      if (cost.intra_node_bytes > 0) costs.push_back(cost);
    }
    return seconds_of(costs, steps(costs), model);
  };
  ReductionPath best{direct};
  best.seconds = seconds_of_path(best, std::numeric_limits<double>::infinity());
  for (auto& end : ends_of_reduction(source, target, dims, options, looks_closely)) {
    if (looks_closely &&
        least_seconds(direct, end, dims.is_one_step, !made.empty(), type, model) >= best.seconds)
      continue;
    ReductionPath path{direct};
    path.scatter.to = end;
    path.scatter.first_only.clear();
    path.scatter.kept_dims.clear();
    path.gather = transfer_to(std::move(end), target, made);
    if (!lies_in(target, path.scatter.to) && largest_piece_bytes(path.scatter.to, type) > limit)
      continue;
    path.seconds = seconds_of_path(path, best.seconds);
    if (path.seconds < best.seconds) best = std::move(path);
  }
  return best;
}

std::vector<PlannedStep> planned_steps(const DTensorSpec& source, const DTensorSpec& target,
                                       const PartialDims& dims, ElementType type,
                                       const PlanSettings& options, const NodeGrid* nodes) {
  auto direct = transfer_to(source, target, dims.made);
  const auto limit = memory_limit(source, target, type, options);
  if (dims.reduced.empty()) {
    if (nodes == nullptr) direct = with_slices(std::move(direct), dims.made, type, options);
    return one_step_each(cheapest_path(direct, type, options, nodes, limit));
  }
  direct.reduced_dims = dims.reduced;
  direct.op = fold_op(source.placements()[at(dims.reduced.front())].op());
  direct.divisor = divisor_of(source, dims.reduced);
  const MeshDimsOfReduction of_reduction(source, target, dims.reduced);
  auto reduction = cheapest_reduction(direct, of_reduction, dims.made, type, options, nodes, limit);
  if (!reduction.gather) return {{StepKind::reduce, false, {std::move(reduction.scatter)}}};
  auto path = cheapest_path(*reduction.gather, type, options, nodes, limit);
  if (of_reduction.is_one_step && path.size() == 1)
    return {{StepKind::reduce, false, {std::move(reduction.scatter), std::move(path.front())}}};
  auto steps = one_step_each(std::move(path));
  steps.insert(steps.begin(), {StepKind::reduce, false, {std::move(reduction.scatter)}});
  return steps;
}

}  // namespace

PlannedPath planned_path(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                         const PlanSettings& options, const NodeGrid* nodes) {
  const auto from = without_dims_of_one_rank(source);
  const auto to = without_dims_of_one_rank(target);
  auto dims = partial_dims(from.placements(), to.placements());
  auto steps = planned_steps(from, to, dims, type, options, nodes);
  return {std::move(steps), std::move(dims.made)};
}

/// Reduces contributions into shares if a tensor dim can be split: shares travel once, instead of
/// copies.
PlannedPath planned_path_across(const DTensorSpec& source, const DTensorSpec& target,
                                const PlanSettings& options) {
  PlannedPath path;
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
