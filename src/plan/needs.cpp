// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "plan/cells.hpp"
#include "plan/needs.hpp"
#include "plan/planner.hpp"
#include "plan/specs.hpp"

namespace tessera::detail {
namespace {

/// Returns the indices of an interval modulo `extent`, in its order.
std::vector<Section> wrapped(Interval interval, std::int64_t extent) {
  std::vector<Section> result;
  while (!interval.is_empty()) {
    const auto rest = interval.begin % extent;
    const auto begin = rest < 0 ? rest + extent : rest;
    const auto size = std::min(interval.size(), extent - begin);
    result.push_back(section_of({begin, begin + size}));
    interval.begin += size;
  }
  return result;
}

/// Returns what `from`, the part of a sender along a tensor dim, has of a need.
std::vector<IndexRun> runs_of_need(const Sections& from, std::span<const Section> need,
                                   std::int64_t position) {
  auto runs = common_runs(from, need);
  for (auto& run : runs) run.to.offset += position;
  return runs;
}

class NeedsPlanner {
 public:
  NeedsPlanner(const DTensorSpec& source, std::span<const Needs> needs, int mesh_rank)
      : source_(source), needs_(needs), self_(mesh_rank), own_(coordinate_of(mesh_rank)) {}

  /// Returns what the rank fetches; blocks of one peer follow one another, in the order of needs.
  Blocks to_receive() const {
    Blocks blocks;
    std::vector<Block> all;
    for (const auto& need : needs_[at(self_)]) {
      auto sender = own_;
      const auto cells = Cells::of_need(source_, need, blocks);
      cells.for_each(sender, [&](Block block) {
        block.peer = source_.layout().mesh_rank(sender);
        all.push_back(block);
      });
    }
    std::ranges::stable_sort(all, {}, &Block::peer);
    for (const auto& block : all) blocks.push_back(block);
    return blocks;
  }

  /// Returns what others fetch from the rank, in the same order.
  Blocks to_send() const {
    Blocks blocks;
    for (int rank = 0; rank < std::ssize(needs_); ++rank) {
      if (rank == self_ || !fetches_from_own(rank)) continue;
      for (const auto& need : needs_[at(rank)]) add_block(rank, need, blocks);
    }
    return blocks;
  }

 private:
  std::vector<int> coordinate_of(int rank) const { return source_.layout().coordinate(rank); }

  /// Returns whether a rank has this rank's coordinates along mesh dims that do not shard.
  bool fetches_from_own(int rank) const {
    const auto other = coordinate_of(rank);
    for (int d = 0; d < source_.layout().ndim(); ++d)
      if (!source_.placements()[at(d)].is_shard() && own_[at(d)] != other[at(d)]) return false;
    return true;
  }

  void add_block(int rank, const Need& need, Blocks& blocks) const {
    const auto mine = source_.sections(own_);
    std::vector<std::vector<IndexRun>> runs;
    for (std::size_t d = 0; d < source_.shape().size(); ++d) {
      const auto extent = source_.shape()[d];
      runs.push_back(
          runs_of_need(mine.sections[d], wrapped(need.box.interval(d), extent), need.position[d]));
      if (runs.back().empty()) return;
    }
    Block block{.peer = rank, .shape = source_.shape()};
    for (std::size_t d = 0; d < runs.size(); ++d) {
      block.shape[d] = total_extent(runs[d]);
      block.runs[d] = blocks.add(std::move(runs[d]));
    }
    blocks.push_back(block);
  }

  const DTensorSpec& source_;
  std::span<const Needs> needs_;
  int self_;
  std::vector<int> own_;
};

/// Returns the size of the largest array of what one rank needs, elements.
std::int64_t largest_need(std::span<const Needs> needs) {
  std::int64_t largest = 0;
  for (const auto& of_rank : needs) {
    std::int64_t size = 0;
    for (const auto& need : of_rank) size += need.box.size();
    largest = std::max(largest, size);
  }
  return largest;
}

/// Returns whether a rank needs something that it does not have.
bool needs_others(const DTensorSpec& source, const Needs& needs, int rank) {
  const auto own = source.sections(source.layout().coordinate(rank));
  return std::ranges::any_of(needs, [&](const Need& need) {
    std::int64_t size = 1;
    for (std::size_t d = 0; d < source.shape().size(); ++d)
      size *= common_extent(own.sections[d], wrapped(need.box.interval(d), source.shape()[d]));
    return size < need.box.size();
  });
}

}  // namespace

Cells Cells::of_need(const DTensorSpec& source, const Need& need, Blocks& blocks) {
  Cells cells(source);
  const std::vector<int> any(at(source.layout().ndim()), -1);
  for (std::size_t d = 0; d < cells.dims_.size(); ++d) {
    const auto intervals = wrapped(need.box.interval(d), source.shape()[d]);
    std::vector<Part> parts;
    for (const auto& interval : intervals)
      std::ranges::copy(parts_meeting(source.split(d), {interval.begin, interval.end()}, any),
                        std::back_inserter(parts));
    std::ranges::sort(parts, {}, &Part::index);
    const auto again = std::ranges::unique(parts, {}, &Part::index);
    parts.erase(again.begin(), again.end());
    for (const auto& part : parts)
      cells.add(d, part.index, runs_of_need(part.sections, intervals, need.position[d]), blocks);
  }
  return cells;
}

NeedsPlan plan_to_needs(const DTensorSpec& source, std::span<const Needs> needs, int mesh_rank,
                        ElementType type, const PlanSettings& settings) {
  NeedsPlan plan{{.type = type, .settings = settings}, {StepKind::exchange, false, {}}};
  const auto largest = std::max(largest_piece_bytes(source, type),
                                static_cast<double>(largest_need(needs) * type.size));
  const int ranks = source.layout().size();
  plan.movement.messages = message_sizes(memory_limit(largest, settings), type, ranks, nullptr);
  for (int rank = 0; rank < ranks && !plan.step.communicates; ++rank)
    plan.step.communicates = needs_others(source, needs[at(rank)], rank);
  const NeedsPlanner planner(source, needs, mesh_rank);
  plan.step.phases.push_back({source.sections(source.layout().coordinate(mesh_rank)),
                              {},
                              planner.to_send(),
                              planner.to_receive()});
  return plan;
}

}  // namespace tessera::detail
