// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include "plan/cells.hpp"
#include "plan/needs.hpp"
#include "plan/planner.hpp"
#include "plan/specs.hpp"

namespace tessera::detail {
namespace {

/// Returns the indices of an interval modulo `extent`, in its order. Expects an extent of 1 or more.
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

/// Returns false only if no index of `need`, modulo `extent`, can lie in `part`. Allocates nothing.
bool may_meet(const Sections& part, Interval need, std::int64_t extent) {
  return !contains({0, extent}, need) || !intersect(part.hull(), need).is_empty();
}

/// Selects the replicas of an element that take part: that with the coordinates of the rank that needs
/// it, or all of them.
enum class Replicas : std::uint8_t { own, all };

std::vector<int> replicating_dims(const DTensorSpec& spec) {
  std::vector<int> result;
  for (int d = 0; d < spec.layout().ndim(); ++d)
    if (!spec.placements()[at(d)].is_shard()) result.push_back(d);
  return result;
}

class NeedsPlanner {
 public:
  NeedsPlanner(const DTensorSpec& source, std::span<const Needs> needs, int mesh_rank,
               Replicas replicas)
      : source_(source),
        needs_(needs),
        self_(mesh_rank),
        replicas_(replicas),
        replicating_dims_(replicating_dims(source)),
        own_(coordinate_of(mesh_rank)),
        held_(source.sections(own_)) {}

  const Piece& held() const { return held_; }

  /// Returns what the rank fetches. It lists blocks sender by sender, each one's in the order of
  /// the needs.
  Blocks to_receive() const {
    Blocks blocks;
    std::vector<Block> all;
    for (const auto& need : needs_[at(self_)]) {
      if (need.box.is_empty()) continue;
      auto sender = own_;
      const auto cells = Cells::of_need(source_, need, blocks);
      const auto add = [&](int) {
        cells.for_each(sender, [&](Block block) {
          block.peer = source_.layout().mesh_rank(sender);
          all.push_back(block);
        });
      };
      const bool are_all = replicas_ == Replicas::all;
      for_each_coordinate(source_.layout(), are_all ? replicating_dims_ : std::vector<int>(),
                          sender, add);
    }
    std::ranges::stable_sort(all, {}, &Block::peer);
    for (const auto& block : all) blocks.push_back(block);
    return blocks;
  }

  /// Returns what others fetch from the rank. It lists blocks receiver by receiver, each one's in
  /// the order of its needs, as the receiver does.
  Blocks to_send() const {
    Blocks blocks;
    for (int rank = 0; rank < std::ssize(needs_); ++rank) {
      if (rank == self_) continue;
      if (replicas_ == Replicas::own && !fetches_from_own(rank)) continue;
      for (const auto& need : needs_[at(rank)]) add_block(rank, need, blocks);
    }
    return blocks;
  }

 private:
  std::vector<int> coordinate_of(int rank) const { return source_.layout().coordinate(rank); }

  /// Returns whether a rank has this rank's coordinates along mesh dims that do not shard.
  bool fetches_from_own(int rank) const {
    const auto other = coordinate_of(rank);
    return std::ranges::all_of(replicating_dims_,
                               [&](int d) { return own_[at(d)] == other[at(d)]; });
  }

  /// Adds what a rank fetches for one need, if that is anything.
  void add_block(int rank, const Need& need, Blocks& blocks) const {
    if (need.box.is_empty()) return;
    const auto& shape = source_.shape();
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (!may_meet(held_.sections[d], need.box.interval(d), shape[d])) return;
    std::vector<std::vector<IndexRun>> runs;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto intervals = wrapped(need.box.interval(d), shape[d]);
      runs.push_back(runs_of_need(held_.sections[d], intervals, need.position[d]));
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
  Replicas replicas_;
  std::vector<int> replicating_dims_;  ///< mesh dims that do not shard the tensor
  std::vector<int> own_;               ///< coordinate
  Piece held_;
};

/// Returns the largest number of elements that one rank needs.
double largest_need(std::span<const Needs> needs) {
  double largest = 0;
  for (const auto& of_rank : needs) {
    double size = 0;
    for (const auto& need : of_rank) size += static_cast<double>(need.box.size());
    largest = std::max(largest, size);
  }
  return largest;
}

/// Returns whether a rank needs something that it does not have.
bool needs_others(const DTensorSpec& source, const Needs& needs, int rank) {
  const auto own = source.sections(source.layout().coordinate(rank));
  return std::ranges::any_of(needs, [&](const Need& need) {
    if (need.box.is_empty()) return false;
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
    const auto are_one = [](const Part& x, const Part& y) { return x.index == y.index; };
    parts.erase(std::unique(parts.begin(), parts.end(), are_one), parts.end());
    for (const auto& part : parts)
      cells.add(d, part.index, runs_of_need(part.sections, intervals, need.position[d]), blocks);
  }
  return cells;
}

/// Returns what ranks know of such a plan besides its steps. All of them may be peers: their number is
/// not counted, so that planning stays short.
static Movement movement_for(const DTensorSpec& spec, std::span<const Needs> needs,
                             ElementType type, const PlanSettings& settings) {
  Movement movement{.type = type, .settings = settings};
  const auto largest = std::max(largest_piece_bytes(spec, type),
                                largest_need(needs) * static_cast<double>(type.size));
  movement.messages =
      message_sizes(memory_limit(largest, settings), type, spec.layout().size(), nullptr);
  return movement;
}

static bool some_rank_needs_others(const DTensorSpec& spec, std::span<const Needs> needs) {
  for (int rank = 0; rank < std::ssize(needs); ++rank)
    if (needs_others(spec, needs[at(rank)], rank)) return true;
  return false;
}

Needs needs_of(const Box& box, const Extents& shape) {
  Needs needs{{box, Extents::filled(shape.size(), 0)}};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (box.shape[d] <= shape[d]) continue;
    Needs parts;
    for (const auto& need : needs)
      for (std::int64_t begin = 0; begin < box.shape[d]; begin += shape[d]) {
        auto& part = parts.emplace_back(need);
        part.position[d] = begin;
        part.box.offset[d] += begin;
        part.box.shape[d] = std::min(shape[d], box.shape[d] - begin);
      }
    needs = std::move(parts);
  }
  return needs;
}

NeedsPlan plan_to_needs(const DTensorSpec& source, std::span<const Needs> needs, int mesh_rank,
                        ElementType type, const PlanSettings& settings) {
  const NeedsPlanner planner(source, needs, mesh_rank, Replicas::own);
  Step step{StepKind::exchange, some_rank_needs_others(source, needs), {}};
  step.phases.push_back({planner.held(), {}, planner.to_send(), planner.to_receive()});
  return {movement_for(source, needs, type, settings), std::move(step)};
}

PatchesPlan plan_patches(const DTensorSpec& spec, std::span<const Needs> needs, int mesh_rank,
                         ElementType type, const PlanSettings& settings) {
  const NeedsPlanner planner(spec, needs, mesh_rank, Replicas::all);
  const auto patch = planner.to_receive().reversed();
  const auto is_own = [&](int peer) { return peer == mesh_rank; };
  Phase phase{.source = {},
              .destination = planner.held(),
              .send = patch.with_peers(std::not_fn(is_own)),
              .receive = planner.to_send().reversed(),
              .arrives_packed = true};
  std::int64_t size = 0;
  for (const auto& block : phase.receive) size += block.size();
  const bool has_replicas = std::ranges::any_of(
      replicating_dims(spec), [&](int d) { return spec.layout().shape()[at(d)] > 1; });
  const bool communicates =
      some_rank_needs_others(spec, needs) || (has_replicas && largest_need(needs) > 0);
  return {movement_for(spec, needs, type, settings),
          {StepKind::exchange, communicates, {std::move(phase)}},
          patch.with_peers(is_own),
          size};
}

}  // namespace tessera::detail
