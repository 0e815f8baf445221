// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/plan/plan.hpp>

#include "placement/can_reduce.hpp"
#include "plan/cells.hpp"
#include "plan/planner.hpp"
#include "plan/specs.hpp"
#include "plan/transfer_cost.hpp"
#include "plan/tuning.hpp"

namespace tessera {

using detail::at;

namespace {

using PlanData = detail::PlanAccess::Data;

/// Chooses number and length of messages so that all that are under way at once respect the limit.
detail::MessageSizes message_sizes(const PlanData& data) {
  int peers = 1;
  for (const auto& step : data.steps)
    for (const auto& transfer : step.transfers)
      peers = std::max(peers, detail::most_peers(transfer));
  // Only the first transfer reduces.
  const auto& first = data.steps.front().transfers.front();
  const auto& type = data.movement.type;
  const auto limit = detail::memory_limit(data.source, data.target, type, data.movement.settings);
  return detail::message_sizes(limit, type, peers, first.reduced_dims.empty() ? nullptr : &first);
}

/// Returns the work on the new Partial mesh dims `made`, which `last`, the last transfer, leaves.
std::optional<PartialTarget> partial_target_of(const DTensorSpec& target,
                                               const std::vector<int>& made,
                                               const detail::Transfer& last) {
  if (made.empty()) return {};
  PartialTarget result{target.placements()[at(made.front())].op()};
  for (const int d : last.kept_dims)
    if (target.placements()[at(d)].is_partial(ReduceOp::avg))
      result.scale *= target.layout().shape()[at(d)];
  return result;
}

void require_reducible_along(const Placements& placements, const std::vector<int>& mesh_dims,
                             ElementType type) {
  for (const int d : mesh_dims)
    if (placements[at(d)].is_partial()) require_reducible(placements[at(d)].op(), type);
}

void require_same_shape(const DTensorSpec& source, const DTensorSpec& target) {
  require(source.shape() == target.shape(), [&] {
    return fmt::format("expected a target of shape {}, got {}", to_string(source.shape()),
                       to_string(target.shape()));
  });
}

std::shared_ptr<PlanData> started(const DTensorSpec& source, const DTensorSpec& target,
                                  ElementType type, const detail::PlanSettings& options) {
  return std::make_shared<PlanData>(
      PlanData{.source = source,
               .target = target,
               .movement = {.type = type, .settings = options},
               .hash = detail::plan_hash(source, target, type, options)});
}

/// Completes the plan once its steps are known.
void finish(PlanData& data) {
  for (auto& step : data.steps)
    step.communicates = std::ranges::any_of(step.transfers, [&](const detail::Transfer& transfer) {
      return data.pair ? detail::communicates(transfer, *data.pair)
                       : detail::communicates(transfer);
    });
  const auto& first = data.steps.front().transfers.front();
  data.movement.op = first.op;
  data.movement.divisor = first.divisor;
  data.movement.messages = message_sizes(data);
}

/// Finds the blocks and local pieces of one rank, on one mesh or two.
class RankView {
 public:
  RankView(const PlanData& data, int rank) : data_(data), rank_(rank) {}
  Piece piece(const DTensorSpec& spec) const {
    return data_.pair ? data_.pair->piece(spec, rank_) : spec.sections(coordinate_on(spec));
  }
  Blocks to_send(const detail::Transfer& transfer) const {
    return data_.pair ? blocks_to_send(transfer, *data_.pair, rank_)
                      : blocks_to_send(transfer, coordinate_on(transfer.from));
  }
  Blocks to_receive(const detail::Transfer& transfer) const {
    return data_.pair ? blocks_to_receive(transfer, *data_.pair, rank_)
                      : blocks_to_receive(transfer, coordinate_on(transfer.from));
  }

 private:
  /// Returns the rank's coordinate on the layout of `spec`, which may be a finer grid of the same
  /// ranks.
  std::vector<int> coordinate_on(const DTensorSpec& spec) const {
    return spec.layout().coordinate(rank_);
  }

  const PlanData& data_;
  int rank_;
};

}  // namespace

std::uint64_t detail::plan_hash(const DTensorSpec& source, const DTensorSpec& target,
                                ElementType type, const detail::PlanSettings& options) {
  const auto hash = hash_combine(source.hash(), target.hash());
  return hash_combine(hash_combine(hash, type), hash_of(options));
}

void detail::require_memory_limit(std::int64_t extra_memory) {
  require(extra_memory >= 0, [&] {
    return fmt::format("expected extra_memory of 0 bytes or more, got {}", extra_memory);
  });
}

std::string detail::in_words(const detail::PlanSettings& settings) {
  std::string text;
  if (settings.wire_order == WireOrder::first_dim_fastest) text += ", first dim fastest";
  if (settings.on_device) text += ", in device memory";
  if (settings.extra_memory != 0)
    text += fmt::format(", extra_memory {} bytes", settings.extra_memory);
  const auto& model = settings.cost_model;
  if (model != CostModel())
    text += fmt::format(
        ", costs {} s a message, {} s a byte, {} s a reduced byte, {} s a message between nodes, "
        "{} "
        "s a byte of a node",
        model.seconds_per_message, model.seconds_per_byte, model.seconds_per_reduced_byte,
        model.seconds_per_inter_node_message, model.seconds_per_node_byte);
  if (!settings.ranks_per_node.empty())
    text += fmt::format(", blocks of {} on a node", to_string(settings.ranks_per_node));
  return text;
}

std::uint64_t detail::hash_of(const detail::PlanSettings& options) {
  const auto flags =
      (options.wire_order == WireOrder::first_dim_fastest ? 1 : 0) + (options.on_device ? 2 : 0);
  auto hash = hash_combine(static_cast<std::uint64_t>(flags),
                           static_cast<std::uint64_t>(options.extra_memory));
  const auto& model = options.cost_model;
  for (const double seconds :
       {model.seconds_per_message, model.seconds_per_byte, model.seconds_per_reduced_byte,
        model.seconds_per_inter_node_message, model.seconds_per_node_byte})
    hash = hash_combine(hash, std::bit_cast<std::uint64_t>(seconds));
  return hash_range(hash, options.ranks_per_node);
}

namespace {

std::shared_ptr<PlanData> data_on_one_mesh(const DTensorSpec& source, const DTensorSpec& target,
                                           ElementType type, const detail::PlanSettings& options) {
  const auto dims = detail::partial_dims(source.placements(), target.placements());
  require_reducible_along(source.placements(), dims.reduced, type);
  require_reducible_along(target.placements(), dims.made, type);
  auto data = started(source, target, type, options);
  if (!options.ranks_per_node.empty())
    data->nodes = std::make_shared<detail::NodeGrid>(source.layout(), options.ranks_per_node);
  auto path = detail::planned_path(source, target, type, options, data->nodes.get());
  data->movement.partial_target =
      partial_target_of(target, path.made, path.steps.back().transfers.back());
  data->steps = std::move(path.steps);
  finish(*data);
  return data;
}

std::shared_ptr<PlanData> data_across(const DTensorSpec& source, const DTensorSpec& target,
                                      ElementType type, const detail::PlanSettings& options) {
  for (const auto* spec : {&source, &target})
    for (const auto& placement : spec->placements())
      if (placement.is_partial()) require_reducible(placement.op(), type);
  auto data = started(source, target, type, options);
  auto path = detail::planned_path_across(source, target, options);
  data->pair = std::make_shared<detail::MeshPair>(source.layout(), target.layout());
  if (!path.made.empty())
    data->movement.partial_target = PartialTarget{target.placements()[at(path.made.front())].op()};
  data->steps = std::move(path.steps);
  finish(*data);
  return data;
}

/// Returns the options of a plan that is made before the types of its Views are known.
detail::PlanSettings settings_of(const PlanOptions& options) {
  detail::PlanSettings result;
  detail::require_memory_limit(options.extra_memory);
  static_cast<PlanOptions&>(result) = options;
  return result;
}

}  // namespace

RedistributePlan detail::PlanAccess::make(const DTensorSpec& source, const DTensorSpec& target,
                                          ElementType type, const PlanSettings& settings) {
  require_same_shape(source, target);
  const auto make_data = source.layout() == target.layout() ? data_on_one_mesh : data_across;
  return RedistributePlan(make_data(source, target, type, settings));
}

RedistributePlan detail::plan_on_one_mesh(const DTensorSpec& source, const DTensorSpec& target,
                                          ElementType type, const PlanSettings& settings) {
  require<MeshMismatch>(source.layout() == target.layout(), [&] {
    const auto [expected, got] = told_apart(source.layout(), target.layout());
    return fmt::format("expected a target on the source's mesh {}, got mesh {}", expected, got);
  });
  return PlanAccess::make(source, target, type, settings);
}

RedistributePlan make_plan(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                           const PlanOptions& options) {
  return detail::named("make_plan", [&] {
    return detail::plan_on_one_mesh(source, target, type, settings_of(options));
  });
}

RedistributePlan make_plan_across(const DTensorSpec& source, const DTensorSpec& target,
                                  ElementType type, const PlanOptions& options) {
  return detail::named("make_plan_across", [&] {
    return detail::PlanAccess::make(source, target, type, settings_of(options));
  });
}

const DTensorSpec& RedistributePlan::source() const {
  return data_->source;
}
const DTensorSpec& RedistributePlan::target() const {
  return data_->target;
}
ElementType RedistributePlan::element_type() const {
  return data_->movement.type;
}
const PlanOptions& RedistributePlan::options() const {
  return data_->movement.settings;
}
const std::optional<PartialTarget>& RedistributePlan::partial_target() const {
  return data_->movement.partial_target;
}
int RedistributePlan::exchanges() const {
  return static_cast<int>(std::ranges::count_if(data_->steps, &detail::PlannedStep::communicates));
}

const std::vector<int>& RedistributePlan::ranks() const {
  return data_->pair ? data_->pair->ranks() : data_->source.layout().ranks();
}

std::vector<Step> RedistributePlan::steps(int mesh_rank) const {
  require(0 <= mesh_rank && mesh_rank < std::ssize(ranks()), [&] {
    return fmt::format("RedistributePlan::steps: expected a rank from 0 to {}, got {}",
                       std::ssize(ranks()) - 1, mesh_rank);
  });
  const RankView rank(*data_, mesh_rank);
  std::vector<Step> result;
  for (const auto& planned : data_->steps) {
    Step step{planned.kind, planned.communicates, {}};
    for (const auto& transfer : planned.transfers)
      step.phases.push_back({rank.piece(transfer.source()), rank.piece(transfer.to),
                             rank.to_send(transfer), rank.to_receive(transfer),
                             transfer.contributions()});
    result.push_back(std::move(step));
  }
  return result;
}

PlanCost RedistributePlan::cost() const {
  PlanCost result;
  std::vector<detail::TransferCost> costs;
  for (const auto& step : data_->steps)
    for (const auto& transfer : step.transfers)
      if (step.communicates)
        costs.push_back(detail::cost_of(transfer, data_->movement.type, data_->nodes.get()));
  for (const auto& cost : costs) {
    result.inter_node_bytes_received += static_cast<std::int64_t>(cost.inter_node_bytes);
    result.bytes_received +=
        static_cast<std::int64_t>(cost.intra_node_bytes + cost.inter_node_bytes);
    result.bytes_reduced += static_cast<std::int64_t>(cost.reduced_bytes);
    result.inter_node_messages_received += static_cast<std::int64_t>(cost.inter_node_messages);
    result.messages_received +=
        static_cast<std::int64_t>(cost.intra_node_messages + cost.inter_node_messages);
  }
  const auto steps = static_cast<std::size_t>(exchanges());
  result.seconds = detail::seconds_of(costs, steps, data_->movement.settings.cost_model);
  const auto buffers =
      static_cast<double>(data_->movement.messages.buffers * data_->movement.messages.bytes);
  for (const auto& cost : costs) {
    const auto bytes = std::min(buffers, cost.bytes_under_way());
    result.extra_memory = std::max(result.extra_memory, static_cast<std::int64_t>(bytes));
  }
  return result;
}

namespace {

/// Holds numbers of the busiest rank, bytes.
struct Received {
  std::int64_t bytes = 0;
  std::int64_t lower_bound = 0;
};

/// Returns the most that a rank receives, and the most that a rank needs and does not have.
Received most_received(const RedistributePlan& plan, const PlanData& data) {
  Received most;
  const auto size = plan.element_type().size;
  const bool reduces = data.steps.front().kind == StepKind::reduce;
  for (int rank = 0; rank < std::ssize(plan.ranks()); ++rank) {
    const RankView view(data, rank);
    std::int64_t elements = 0;
    for (const auto& step : data.steps)
      for (const auto& transfer : step.transfers)
        for (const auto& block : view.to_receive(transfer))
          if (block.peer != rank) elements += block.size();
    most.bytes = std::max(most.bytes, elements * size);
    const auto need = view.piece(plan.target());
    const auto has = reduces ? 0 : common_size(need, view.piece(plan.source()));
    const auto lacks = plan.partial_target() ? 0 : need.size() - has;
    most.lower_bound = std::max(most.lower_bound, lacks * size);
  }
  return most;
}

/// Returns the grid of the transfer as text, if it is not that of the plan.
std::string grid_of(const detail::Transfer& transfer, const PlanData& data) {
  const auto& layout = transfer.from.layout();
  const bool is_finer = data.nodes && layout.ndim() != data.source.layout().ndim();
  return is_finer ? fmt::format("between and within nodes {}: ", to_string(layout)) : "";
}

}  // namespace

std::string RedistributePlan::explain() const {
  auto text = to_string(*this) + "\n";
  for (const auto& step : data_->steps) {
    text += fmt::format("  {}{}\n", step.kind == StepKind::reduce ? "reduce" : "exchange",
                        step.communicates ? "" : " (local)");
    for (const auto& transfer : step.transfers)
      text += fmt::format("    {}{} -> {}{}, at most {} bytes and {} peers per rank\n",
                          grid_of(transfer, *data_), to_string(transfer.from.placements()),
                          to_string(transfer.to.placements()),
                          transfer.reduced_dims.empty()
                              ? ""
                              : fmt::format(", {} contributions reduced by {}",
                                            transfer.contributions(), to_string(transfer.op)),
                          detail::largest_piece_bytes(transfer.to, data_->movement.type),
                          detail::most_peers(transfer) - (transfer.is_on_one_mesh() ? 1 : 0));
  }
  if (data_->movement.partial_target)
    text += fmt::format("  fill with the identity of {}\n",
                        to_string(data_->movement.partial_target->op));
  if (std::ssize(ranks()) <= detail::most_ranks_counted) {
    const auto received = most_received(*this, *data_);
    text += fmt::format("  busiest rank receives {} bytes, at least {} are needed\n",
                        received.bytes, received.lower_bound);
  }
  const auto all = cost();
  if (data_->nodes)
    text += fmt::format("  from other nodes about {} bytes in {} messages per rank\n",
                        all.inter_node_bytes_received, all.inter_node_messages_received);
  text +=
      fmt::format("  about {:.3g} s; at most {} bytes of messages under way, each of at most {}\n",
                  all.seconds, all.extra_memory, data_->movement.messages.bytes);
  return text;
}

namespace detail {

const Movement& PlanAccess::movement(const RedistributePlan& plan) {
  return plan.data_->movement;
}
std::uint64_t PlanAccess::hash(const RedistributePlan& plan) {
  return plan.data_->hash;
}

}  // namespace detail

std::string to_string(const RedistributePlan& plan) {
  const bool is_on_one_mesh = plan.source().layout() == plan.target().layout();
  return fmt::format(
      "{} -> {}: {} exchange{}", to_string(plan.source()),
      is_on_one_mesh ? to_string(plan.target().placements()) : to_string(plan.target()),
      plan.exchanges(), plan.exchanges() == 1 ? "" : "s");
}

}  // namespace tessera
