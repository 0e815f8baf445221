// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "debug/rank_loads.hpp"
#include "plan/cells.hpp"
#include "plan/movement.hpp"
#include "plan/node_grid.hpp"
#include "plan/planner.hpp"
#include "plan/specs.hpp"

namespace tessera::detail {
namespace {

/// Plans the steps of `plan` again; they are a function of what it was made from.
std::vector<PlannedStep> planned_steps_of(const RedistributePlan& plan) {
  const auto& options = PlanAccess::movement(plan).settings;
  if (plan.source().layout() != plan.target().layout())
    return planned_path_across(plan.source(), plan.target(), options).steps;
  std::unique_ptr<const NodeGrid> nodes;
  if (!options.ranks_per_node.empty())
    nodes = std::make_unique<NodeGrid>(plan.source().layout(), options.ranks_per_node);
  return planned_path(plan.source(), plan.target(), plan.element_type(), options, nodes.get())
      .steps;
}

/// Returns where the parts that are not empty begin, in ascending order; nothing where a part is
/// more than one interval.
std::vector<std::int64_t> begins_of(const DimSplit& split) {
  if (!split.has_intervals()) return {};
  auto positions = split.explicit_boundaries();
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  positions.pop_back();
  return positions;
}

/// Returns how many parts share an index with `need`, which must not be empty. `begins` is
/// begins_of(split).
std::int64_t parts_meeting(const DimSplit& split, const std::vector<std::int64_t>& begins,
                           const Sections& need) {
  if (!begins.empty() && need.is_interval()) {
    const auto first = std::ranges::upper_bound(begins, need.hull().begin) - 1;
    return std::ranges::lower_bound(begins, need.hull().end) - first;
  }
  std::vector<int> any;
  for (const int d : split.mesh_dims) any.resize(std::max(any.size(), at(d) + 1), -1);
  std::int64_t parts = 0;
  for (const auto& part : tessera::parts_meeting(split, need.hull(), any))
    if (common_extent(part.sections, need) > 0) ++parts;
  return parts;
}

}  // namespace

RankLoads::RankLoads(const RedistributePlan& plan) : plan_(plan) {
  const auto& source = plan.source().layout();
  const auto& target = plan.target().layout();
  if (source != target) pair_ = std::make_unique<MeshPair>(source, target);
  for (auto& step : planned_steps_of(plan))
    for (auto& transfer : step.transfers) {
      Begins begins;
      for (int d = 0; d < transfer.from.tensor_dims(); ++d)
        begins.push_back(begins_of(transfer.from.split(at(d))));
      transfers_.push_back({std::move(transfer), std::move(begins)});
    }
}

RankLoad RankLoads::of(int position) const {
  RankLoad load;
  load.source = piece(plan_.source(), position);
  load.target = piece(plan_.target(), position);
  load.source_elements = is_on(plan_.source(), position) ? load.source.size() : 0;
  load.target_elements = is_on(plan_.target(), position) ? load.target.size() : 0;
  for (const auto& counted : transfers_) add(counted, position, load);
  load.bytes_needed = bytes_needed(load, position);
  load.memory = (load.source_elements + load.target_elements) * plan_.element_type().size +
                bytes_between_steps(position);
  return load;
}

int RankLoads::mesh_rank(const DTensorSpec& spec, int position) const {
  return pair_ ? pair_->mesh_rank(spec.layout(), position) : position;
}

Piece RankLoads::piece(const DTensorSpec& spec, int position) const {
  return pair_ ? pair_->piece(spec, position) : spec.sections(spec.layout().coordinate(position));
}

bool RankLoads::fetches(const Transfer& transfer, int position) const {
  const int rank = mesh_rank(transfer.to, position);
  return rank >= 0 && transfer.fetches(transfer.to.layout().coordinate(rank));
}

std::int64_t RankLoads::common(const DTensorSpec& a, const DTensorSpec& b, int position) const {
  if (!is_on(a, position) || !is_on(b, position)) return 0;
  return common_size(piece(a, position), piece(b, position));
}

void RankLoads::add(const CountedTransfer& counted, int position, RankLoad& load) const {
  const auto& transfer = counted.transfer;
  const auto need = piece(transfer.to, position);
  if (need.is_empty() || !fetches(transfer, position)) return;
  if (!transfer.kept_dims.empty()) return add_blocks(transfer, position, load);
  const auto own = common(transfer.from, transfer.to, position);
  const std::int64_t contributions = transfer.contributions();
  std::int64_t blocks = contributions;
  for (std::size_t d = 0; d < need.sections.size(); ++d)
    blocks *= parts_meeting(transfer.from.split(d), counted.begins[d], need.sections[d]);
  load.operands += need.size() * contributions;
  load.bytes_received += (need.size() * contributions - own) * plan_.element_type().size;
  load.messages_received += blocks - (own > 0 ? 1 : 0);
}

void RankLoads::add_blocks(const Transfer& transfer, int position, RankLoad& load) const {
  for (const auto& block : blocks_to_receive(transfer, transfer.to.layout().coordinate(position))) {
    load.operands += block.size();
    if (block.peer == position) continue;
    load.bytes_received += block.size() * plan_.element_type().size;
    ++load.messages_received;
  }
}

std::int64_t RankLoads::bytes_needed(const RankLoad& load, int position) const {
  if (plan_.partial_target()) return 0;
  const bool reduces = transfers_.front().transfer.contributions() > 1;
  const auto has = reduces ? 0 : common(plan_.source(), plan_.target(), position);
  return (load.target_elements - has) * plan_.element_type().size;
}

bool RankLoads::keeps_its_piece(const Transfer& transfer, int position) const {
  const auto have = piece(transfer.from, position);
  if (have.is_empty() || !fetches(transfer, position) || !is_on(transfer.to, position))
    return false;
  const auto need = piece(transfer.to, position);
  bool keeps = true;
  for (std::size_t d = 0; keeps && d < have.sections.size(); ++d) {
    const auto runs = common_runs(have.sections[d], need.sections[d]);
    keeps = runs.size() == 1 && runs.front().is_interval() &&
            runs.front().extent == have.sections[d].extent();
  }
  return keeps;
}

/// Returns the size of the buffers between steps, bytes. The results of phases alternate between
/// two buffers. The last result lies in the target; so does the one before it if the last phase
/// leaves all of it on this rank, as one box.
std::int64_t RankLoads::bytes_between_steps(int position) const {
  std::array<std::int64_t, 2> elements{};
  auto between = transfers_.size() - 1;
  if (between > 0 && keeps_its_piece(transfers_.back().transfer, position)) --between;
  for (std::size_t i = 0; i < between; ++i)
    if (is_on(transfers_[i].transfer.to, position))
      elements[i % 2] =
          std::max(elements[i % 2], piece(transfers_[i].transfer.to, position).size());
  return (elements[0] + elements[1]) * plan_.element_type().size;
}

}  // namespace tessera::detail
