// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tessera/plan/detail/transfer.hpp>

#include "plan/cells.hpp"
#include "plan/specs.hpp"

namespace tessera::detail {

namespace {

int contribution_of(const Transfer& transfer, std::span<const int> coordinate) {
  int contribution = 0;
  for (const int d : transfer.reduced_dims)
    contribution = contribution * transfer.from.layout().shape()[at(d)] + coordinate[at(d)];
  return contribution;
}

/// Describes one cut of a tensor dim: by which mesh dim, and by which rule.
struct Cut {
  int mesh_dim;
  ShardingRule rule;
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// Returns the cuts of a split in split order, without those into one part.
std::vector<Cut> cuts_of(const DimSplit& split) {
  std::vector<Cut> result;
  for (std::size_t k = 0; k < split.mesh_dims.size(); ++k)
    if (split.sizes[k] > 1) result.push_back({split.mesh_dims[k], split.rule(k)});
  return result;
}

/// Returns true only if every part of `to` lies in the part of `from` with the same coordinate. A
/// conservative test, which does not look at each part.
bool refines_at_sight(const DimSplit& from, const DimSplit& to) {
  const auto coarse = cuts_of(from);
  const auto fine = cuts_of(to);
  if (coarse.empty()) return true;
  if (from.slice != to.slice || from.whole != to.whole) return false;
  if (from.boundaries.empty() && to.boundaries.empty())
    return from.block == to.block && coarse.size() <= fine.size() &&
           std::equal(coarse.begin(), coarse.end(), fine.begin());
  return from.boundaries == to.boundaries &&
         std::ranges::equal(coarse, fine, {}, &Cut::mesh_dim, &Cut::mesh_dim);
}

/// Lists the intervals of which the parts of a split consist, in ascending order, and how many of
/// them a part has at most. Expects no cyclic split.
struct IntervalList {
  std::vector<Interval> intervals;
  int in_a_part = 1;

  explicit IntervalList(const DimSplit& split) {
    const int parts = split.parts();
    for (int i = 0; i < parts; ++i)
      for (const auto& section : split.part(i)) intervals.push_back({section.begin, section.end()});
    if (split.has_intervals()) return;
    std::ranges::sort(intervals, {}, &Interval::begin);
    in_a_part = 2;
  }
};

bool has_periods(const DimSplit& split) {
  return !split.has_intervals() && split.rule(0) == ShardingRule::cyclic;
}

/// Returns an upper bound on the number of parts of `others` with which a part of `split` has
/// indices in common; at least 1.
std::int64_t most_meeting(const DimSplit& split, const DimSplit& others) {
  if (others.mesh_dims.empty() || split == others) return 1;
  if (has_periods(split) || has_periods(others)) return others.parts();
  const IntervalList own(split);
  const IntervalList other(others);
  std::int64_t most = 1;
  std::size_t first = 0;
  for (const auto& interval : own.intervals) {
    while (first < other.intervals.size() && other.intervals[first].end <= interval.begin) ++first;
    auto last = first;
    while (last < other.intervals.size() && other.intervals[last].begin < interval.end) ++last;
    most = std::max(most, static_cast<std::int64_t>(last - first));
  }
  return std::min<std::int64_t>(most * own.in_a_part, others.parts());
}

/// Returns an upper bound on the number of parts, each in another part of `others`, of which a
/// local piece of `spec` consists.
std::int64_t most_parts(const DTensorSpec& spec, const DTensorSpec& others) {
  std::int64_t parts = 1;
  for (std::size_t k = 0; k < spec.shape().size(); ++k)
    parts *= most_meeting(spec.split(k), others.split(k));
  return parts;
}

/// Returns whether the rank at `coordinate` fetches something from another rank.
bool needs_others(const Transfer& transfer, std::span<const int> coordinate) {
  if (!transfer.fetches(coordinate)) return false;
  const auto fixed = fixed_senders(transfer, coordinate);
  std::int64_t fetched = 1;
  bool has_all = true;
  for (std::size_t d = 0; d < transfer.to.shape().size(); ++d) {
    const auto mine = transfer.to.split(d).sections(coordinate);
    const auto& from = transfer.from.split(d);
    std::int64_t extent = transfer.kept_dims.empty() ? mine.extent() : 0;
    if (!transfer.kept_dims.empty())
      for (const auto& part : parts_meeting(from, mine.hull(), fixed))
        extent += common_extent(part.sections, mine);
    fetched *= extent;
    has_all = has_all && common_extent(from.sections(coordinate), mine) == extent;
  }
  return fetched > 0 && !has_all;
}

/// Returns what `from`, the part of a sender along a tensor dim, and `to` have in common, as it
/// lies in the sender's array.
std::vector<IndexRun> runs_taken(const Transfer& transfer, std::size_t tensor_dim,
                                 const Sections& from, std::span<const int> sender,
                                 const Sections& to) {
  auto runs = common_runs(from, to);
  if (!transfer.taken_from) return runs;
  // Slices are intervals of intervals: only those are cut further.
  const auto home = transfer.taken_from->split(tensor_dim).sections(sender);
  if (from != home)
    for (auto& run : runs) run.from.offset += from.hull().begin - home.hull().begin;
  return runs;
}

}  // namespace

Cells Cells::of_receiver(const Transfer& transfer, std::span<const int> coordinate,
                         Blocks& blocks) {
  Cells cells(transfer.from);
  const auto fixed = fixed_senders(transfer, coordinate);
  std::vector<int> sender(at(transfer.from.layout().ndim()), 0);
  for (std::size_t d = 0; d < cells.dims_.size(); ++d) {
    const auto mine = transfer.to.split(d).sections(coordinate);
    const auto& split = transfer.from.split(d);
    for (const auto& part : parts_meeting(split, mine.hull(), fixed)) {
      for (std::size_t k = 0; k < split.mesh_dims.size(); ++k)
        sender[at(split.mesh_dims[k])] = split.coordinate(part.index, k);
      cells.add(d, part.index, runs_taken(transfer, d, part.sections, sender, mine), blocks);
    }
  }
  return cells;
}

Cells Cells::of_sender(const Transfer& transfer, std::span<const int> coordinate,
                       std::span<const int> fixed, Blocks& blocks) {
  Cells cells(transfer.to);
  for (std::size_t d = 0; d < cells.dims_.size(); ++d) {
    const auto mine = transfer.from.split(d).sections(coordinate);
    for (const auto& part : parts_meeting(transfer.to.split(d), mine.hull(), fixed))
      cells.add(d, part.index, runs_taken(transfer, d, mine, coordinate, part.sections), blocks);
  }
  return cells;
}

void Cells::add(std::size_t tensor_dim, int index, std::vector<IndexRun> runs, Blocks& blocks) {
  if (runs.empty()) return;
  const auto extent = total_extent(runs);
  dims_[tensor_dim].push_back({index, extent, blocks.add(std::move(runs))});
}

int Transfer::contributions() const {
  int result = 1;
  for (const int d : reduced_dims) result *= from.layout().shape()[at(d)];
  return result;
}

bool Transfer::fetches(std::span<const int> coordinate) const {
  return std::ranges::all_of(first_only, [&](int d) { return coordinate[at(d)] == 0; });
}

Blocks blocks_to_receive(const Transfer& transfer, std::span<const int> coordinate) {
  Blocks blocks;
  if (!transfer.fetches(coordinate)) return blocks;
  const auto& layout = transfer.from.layout();
  std::vector<int> source(coordinate.begin(), coordinate.end());
  const int own_contribution = contribution_of(transfer, coordinate);
  const auto cells = Cells::of_receiver(transfer, coordinate, blocks);
  cells.for_each(source, [&](Block block) {
    block.receiver_contribution = own_contribution;
    for_each_coordinate(layout, transfer.reduced_dims, source, [&](int contribution) {
      block.peer = layout.mesh_rank(source);
      block.contribution = contribution;
      blocks.push_back(block);
    });
  });
  return blocks;
}

Blocks blocks_to_send(const Transfer& transfer, std::span<const int> coordinate) {
  Blocks blocks;
  const auto& layout = transfer.from.layout();
  std::vector<int> fixed(coordinate.size(), -1);
  std::vector<int> free_dims;
  std::vector<int> target(coordinate.begin(), coordinate.end());
  for (int d = 0; d < layout.ndim(); ++d) {
    if (stays(transfer, d))
      fixed[at(d)] = coordinate[at(d)];
    else if (contains(transfer.first_only, d))
      target[at(d)] = 0;
    else if (!transfer.to.placements()[at(d)].is_shard())
      free_dims.push_back(d);
  }
  if (!transfer.fetches(target)) return blocks;
  const int self = layout.mesh_rank(coordinate);
  const auto cells = Cells::of_sender(transfer, coordinate, fixed, blocks);
  cells.for_each(target, [&](Block block) {
    block.contribution = contribution_of(transfer, coordinate);
    for_each_coordinate(layout, free_dims, target, [&](int) {
      block.peer = layout.mesh_rank(target);
      block.receiver_contribution = contribution_of(transfer, target);
      if (block.peer != self) blocks.push_back(block);
    });
  });
  return blocks;
}

int most_peers(const Transfer& transfer) {
  const std::int64_t receive = transfer.contributions() * most_parts(transfer.to, transfer.from);
  const std::int64_t send = copies(transfer) * most_parts(transfer.from, transfer.to);
  return static_cast<int>(std::clamp<std::int64_t>(
      std::max(receive, send), 1,
      std::max(transfer.from.layout().size(), transfer.to.layout().size())));
}

int most_parts(const Transfer& transfer) {
  return static_cast<int>(std::min<std::int64_t>(most_parts(transfer.to, transfer.from),
                                                 transfer.from.layout().size()));
}

bool stays(const Transfer& transfer, int mesh_dim) {
  return contains(transfer.kept_dims, mesh_dim) ||
         (!transfer.from.placements()[at(mesh_dim)].is_shard() &&
          !contains(transfer.reduced_dims, mesh_dim));
}

bool keeps_own(const Transfer& transfer) {
  bool result = transfer.is_on_one_mesh();
  for (std::size_t d = 0; d < transfer.from.shape().size(); ++d)
    result = result && refines_at_sight(transfer.from.split(d), transfer.to.split(d));
  return result;
}

std::int64_t copies(const Transfer& transfer) {
  std::int64_t result = 1;
  const auto& target = transfer.to.layout();
  for (int d = 0; d < target.ndim(); ++d)
    if (!(transfer.is_on_one_mesh() && stays(transfer, d)) &&
        !transfer.to.placements()[at(d)].is_shard())
      result *= target.shape()[at(d)];
  return result;
}

std::vector<int> fixed_senders(const Transfer& transfer, std::span<const int> coordinate) {
  std::vector<int> fixed(at(transfer.from.layout().ndim()), -1);
  for (const int d : transfer.kept_dims) fixed[at(d)] = coordinate[at(d)];
  return fixed;
}

bool communicates(const Transfer& transfer) {
  if (product(transfer.from.shape()) == 0) return false;
  if (transfer.contributions() > 1) return true;
  if (keeps_own(transfer)) return false;
  const auto& layout = transfer.from.layout();
  for (int rank = 0; rank < layout.size(); ++rank)
    if (needs_others(transfer, layout.coordinate(rank))) return true;
  return false;
}

}  // namespace tessera::detail
