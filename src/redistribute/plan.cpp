// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/placement/can_reduce.hpp>
#include <tessera/redistribute/detail/plan_data.hpp>
#include <tessera/redistribute/plan.hpp>

namespace tessera {

namespace {

using detail::Hop;

constexpr std::int64_t default_extra_memory = std::int64_t{64} << 20;
constexpr double seconds_per_message = 1e-6;
constexpr double seconds_per_byte = 1.0 / 4e9;
constexpr double seconds_per_reduced_byte = 0.25 / 4e9;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

bool contains(const std::vector<int>& mesh_dims, int mesh_dim) {
  return std::ranges::find(mesh_dims, mesh_dim) != mesh_dims.end();
}

/// Coordinate 0 alone holds the value; the others hold the identity.
bool keeps_on_first(ReduceOp op) {
  return op != ReduceOp::min && op != ReduceOp::max && op != ReduceOp::avg;
}

/// What happens along the mesh dims that are Partial before or after. All lists ascend.
struct PartialDims {
  std::vector<int> reduced;     ///< Partial before, not the same Partial after
  std::vector<int> made;        ///< Partial after, not the same Partial before
  std::vector<int> first_only;  ///< of `made`: only coordinate 0 holds the value
};

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

/// `spec` with `mesh_dims`, until now unsharded, splitting `tensor_dim` after all others.
DTensorSpec split_further(const DTensorSpec& spec, int tensor_dim,
                          const std::vector<int>& mesh_dims) {
  const auto& placements = spec.placements();
  std::vector<Placement> result(placements.begin(), placements.end());
  std::vector<int> positions;
  for (int d = 0; d < std::ssize(placements); ++d)
    positions.push_back(placements.split_position(d));
  auto boundaries = spec.boundaries();
  auto& list = boundaries[at(tensor_dim)];
  int position = static_cast<int>(spec.split(at(tensor_dim)).mesh_dims.size());
  for (const int d : mesh_dims) {
    result[at(d)] = Shard(tensor_dim);
    positions[at(d)] = position++;
    std::vector<std::int64_t> finer;
    const int size = spec.layout().shape()[at(d)];
    for (std::size_t i = 0; i + 1 < list.size(); ++i)
      for (int child = 0; child < size; ++child)
        finer.push_back(chunk({list[i], list[i + 1]}, size, child).begin);
    if (!list.empty()) finer.push_back(list.back());
    list = std::move(finer);
  }
  return DTensorSpec(spec.layout(), Placements(std::move(result), std::move(positions)),
                     spec.shape(), std::move(boundaries), "make_plan");
}

DTensorSpec replicated_along(const DTensorSpec& spec, const std::vector<int>& mesh_dims) {
  const auto& placements = spec.placements();
  std::vector<Placement> result(placements.begin(), placements.end());
  std::vector<int> positions;
  for (int d = 0; d < std::ssize(placements); ++d)
    positions.push_back(placements.split_position(d));
  for (const int d : mesh_dims) result[at(d)] = Replicate();
  return DTensorSpec(spec.layout(), Placements(std::move(result), std::move(positions)),
                     spec.shape(), spec.boundaries(), "make_plan");
}

/// The distribution that data must reach: the target, but along new Partial mesh dims that were
/// sharded each rank keeps its share.
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
    result = DTensorSpec(result.layout(), result.placements(), result.shape(),
                         std::move(boundaries), "make_plan");
  }
  return result;
}

double largest_piece_bytes(const DTensorSpec& spec, ElementType type) {
  double bytes = type.size;
  for (const auto extent : spec.largest_local_shape()) bytes *= static_cast<double>(extent);
  return bytes;
}

/// Ways to reduce: straight into the target pieces, or into shares along one tensor dim that are
/// gathered afterwards.
struct Reduction {
  std::optional<DTensorSpec> shares;
  double seconds;
};

double seconds_of(int terms, double piece_bytes, double gathered_bytes, int messages) {
  return (piece_bytes * (terms - 1) + gathered_bytes) * seconds_per_byte +
         piece_bytes * terms * seconds_per_reduced_byte + messages * seconds_per_message;
}

Reduction cheapest_reduction(const DTensorSpec& source, const DTensorSpec& goal,
                             const std::vector<int>& reduced, int terms, ElementType type) {
  const double goal_bytes = largest_piece_bytes(goal, type);
  Reduction best{{}, seconds_of(terms, goal_bytes, 0.0, terms - 1)};
  const auto whole = replicated_along(source, reduced);
  for (int k = 0; k < source.tensor_dims(); ++k) {
    auto shares = split_further(whole, k, reduced);
    const double share_bytes = largest_piece_bytes(shares, type);
    const double gathered_bytes = std::max(goal_bytes - share_bytes, 0.0);
    const double seconds = seconds_of(terms, share_bytes, gathered_bytes, 2 * (terms - 1));
    if (seconds < best.seconds) best = {std::move(shares), seconds};
  }
  return best;
}

/// Nothing but the reduced mesh dims changes: scatter and gather together are one all-reduce or
/// reduce-scatter.
bool is_one_reduction(const DTensorSpec& source, const DTensorSpec& goal,
                      const std::vector<int>& reduced) {
  for (int d = 0; d < source.layout().ndim(); ++d)
    if (!contains(reduced, d) && source.placements()[at(d)] != goal.placements()[at(d)])
      return false;
  return true;
}

std::int64_t divisor_of(const DTensorSpec& source, const std::vector<int>& reduced) {
  std::int64_t divisor = 1;
  for (const int d : reduced)
    if (source.placements()[at(d)].is_partial(ReduceOp::avg))
      divisor *= source.layout().shape()[at(d)];
  return divisor;
}

/// Sum and avg fold alike; the division comes at the end.
ReduceOp fold_op(ReduceOp op) {
  return op == ReduceOp::avg ? ReduceOp::sum : op;
}

std::vector<detail::PlannedStep> planned_steps(const DTensorSpec& source, const DTensorSpec& goal,
                                               const PartialDims& dims, ElementType type) {
  Hop last{.from = source, .to = goal, .first_only = dims.first_only};
  if (dims.reduced.empty()) return {{StepKind::exchange, false, {std::move(last)}}};
  last.term_dims = dims.reduced;
  last.op = fold_op(source.placements()[at(dims.reduced.front())].op());
  last.divisor = divisor_of(source, dims.reduced);
  const auto reduction = cheapest_reduction(source, goal, dims.reduced, last.terms(), type);
  if (!reduction.shares) return {{StepKind::reduce, false, {std::move(last)}}};
  Hop scatter = last;
  scatter.to = *reduction.shares;
  scatter.first_only.clear();
  Hop gather{.from = *reduction.shares, .to = goal, .first_only = dims.first_only};
  if (is_one_reduction(source, goal, dims.reduced))
    return {{StepKind::reduce, false, {std::move(scatter), std::move(gather)}}};
  return {{StepKind::reduce, false, {std::move(scatter)}},
          {StepKind::exchange, false, {std::move(gather)}}};
}

/// Most bytes of one message, so that all that are under way at once respect the limit.
std::int64_t largest_message(const RedistributePlan::Data& data) {
  const auto largest_piece = std::max(largest_piece_bytes(data.source, data.type),
                                      largest_piece_bytes(data.target, data.type));
  const auto limit = data.options.extra_memory > 0
                         ? data.options.extra_memory
                         : default_extra_memory + static_cast<std::int64_t>(largest_piece / 8);
  int peers = 1;
  for (const auto& step : data.steps)
    for (const auto& hop : step.hops) peers = std::max(peers, detail::most_peers(hop));
  return std::max<std::int64_t>(data.type.size, limit / (2 * peers + 1));
}

std::optional<PartialTarget> partial_target_of(const DTensorSpec& source, const DTensorSpec& target,
                                               const PartialDims& dims) {
  if (dims.made.empty()) return {};
  PartialTarget result{target.placements()[at(dims.made.front())].op()};
  for (const int d : dims.made)
    if (source.placements()[at(d)].is_shard() &&
        target.placements()[at(d)].is_partial(ReduceOp::avg))
      result.scale *= source.layout().shape()[at(d)];
  return result;
}

void require_reducible_along(const Placements& placements, const std::vector<int>& mesh_dims,
                             ElementType type, const char* function) {
  for (const int d : mesh_dims)
    if (placements[at(d)].is_partial()) require_reducible(function, placements[at(d)].op(), type);
}

}  // namespace

std::uint64_t detail::plan_hash(const DTensorSpec& source, const DTensorSpec& target,
                                ElementType type, const RedistributeOptions& options) {
  auto hash = hash_combine(source.hash(), target.hash());
  hash = hash_combine(hash, type);
  const auto flags = (options.fast_reductions ? 1 : 0) +
                     (options.wire_order == WireOrder::first_dim_fastest ? 2 : 0);
  return hash_combine(hash_combine(hash, static_cast<std::uint64_t>(flags)),
                      static_cast<std::uint64_t>(options.extra_memory));
}

RedistributePlan make_plan(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                           const RedistributeOptions& options, const char* function) {
  require<MeshMismatch>(source.layout() == target.layout(), [&] {
    return fmt::format("{}: expected a target on the source's mesh {}, got mesh {}", function,
                       to_string(source.layout()), to_string(target.layout()));
  });
  require(source.shape() == target.shape(), [&] {
    return fmt::format("{}: expected a target of shape {}, got {}", function,
                       to_string(source.shape()), to_string(target.shape()));
  });
  const auto dims = partial_dims(source.placements(), target.placements());
  require_reducible_along(source.placements(), dims.reduced, type, function);
  require_reducible_along(target.placements(), dims.made, type, function);
  auto data = std::make_shared<RedistributePlan::Data>();
  data->source = source;
  data->target = target;
  data->type = type;
  data->options = options;
  data->hash = detail::plan_hash(source, target, type, options);
  data->partial_target = partial_target_of(source, target, dims);
  data->steps = planned_steps(source, reached(source, target, dims), dims, type);
  for (auto& step : data->steps)
    step.communicates = std::ranges::any_of(step.hops, detail::communicates);
  data->message_bytes = largest_message(*data);
  return RedistributePlan(std::move(data));
}

const DTensorSpec& RedistributePlan::source() const {
  return data_->source;
}
const DTensorSpec& RedistributePlan::target() const {
  return data_->target;
}
ElementType RedistributePlan::element_type() const {
  return data_->type;
}
const RedistributeOptions& RedistributePlan::options() const {
  return data_->options;
}
const std::optional<PartialTarget>& RedistributePlan::partial_target() const {
  return data_->partial_target;
}
ReduceOp RedistributePlan::reduce_op() const {
  return data_->steps.front().hops.front().op;
}
std::int64_t RedistributePlan::divisor() const {
  return data_->steps.front().hops.front().divisor;
}

std::int64_t RedistributePlan::message_bytes() const {
  return data_->message_bytes;
}

int RedistributePlan::exchanges() const {
  return static_cast<int>(std::ranges::count_if(data_->steps, &detail::PlannedStep::communicates));
}

std::uint64_t RedistributePlan::hash() const {
  return data_->hash;
}

std::vector<Step> RedistributePlan::steps(int mesh_rank) const {
  const auto coordinate = data_->source.layout().coordinate(mesh_rank);
  std::vector<Step> result;
  for (const auto& planned : data_->steps) {
    Step step{planned.kind, planned.communicates, {}};
    for (const auto& hop : planned.hops)
      step.phases.push_back({hop.from.piece(coordinate), hop.to.piece(coordinate),
                             blocks_to_send(hop, coordinate), blocks_to_receive(hop, coordinate),
                             hop.terms()});
    result.push_back(std::move(step));
  }
  result.back().phases.back().destination = data_->target.piece(coordinate);
  return result;
}

PlanCost RedistributePlan::cost() const {
  PlanCost cost;
  for (const auto& step : data_->steps) {
    if (!step.communicates) continue;
    for (const auto& hop : step.hops) {
      const auto bytes = static_cast<std::int64_t>(largest_piece_bytes(hop.to, data_->type));
      const int terms = hop.terms();
      const bool reduces = !hop.term_dims.empty();
      cost.bytes_received += bytes * (reduces ? terms - 1 : 1);
      cost.bytes_reduced += reduces ? bytes * terms : 0;
      cost.messages_received += reduces ? terms - 1 : hop.from.layout().size() - 1;
    }
  }
  cost.seconds = static_cast<double>(cost.bytes_received) * seconds_per_byte +
                 static_cast<double>(cost.bytes_reduced) * seconds_per_reduced_byte +
                 static_cast<double>(cost.messages_received) * seconds_per_message;
  return cost;
}

std::string RedistributePlan::explain() const {
  auto text = to_string(*this) + "\n";
  for (const auto& step : data_->steps) {
    text += fmt::format("  {}{}\n", step.kind == StepKind::reduce ? "reduce" : "exchange",
                        step.communicates ? "" : " (local)");
    for (const auto& hop : step.hops)
      text += fmt::format("    {} -> {}{}, at most {} bytes per rank\n",
                          to_string(hop.from.placements()), to_string(hop.to.placements()),
                          hop.term_dims.empty()
                              ? ""
                              : fmt::format(", {} terms of {}", hop.terms(), to_string(hop.op)),
                          largest_piece_bytes(hop.to, data_->type));
  }
  if (data_->partial_target)
    text += fmt::format("  fill with the identity of {}\n", to_string(data_->partial_target->op));
  return text;
}

std::string to_string(const RedistributePlan& plan) {
  return fmt::format("{} -> {}: {} exchange{}", to_string(plan.source()),
                     to_string(plan.target().placements()), plan.exchanges(),
                     plan.exchanges() == 1 ? "" : "s");
}

}  // namespace tessera
