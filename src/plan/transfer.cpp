// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tessera/plan/detail/transfer.hpp>

#include "plan/cells.hpp"
#include "plan/specs.hpp"

namespace tessera::detail {

namespace {

/// Returns whether ranks fetch only from their own coordinate along this mesh dim.
bool stays(const Transfer& transfer, int mesh_dim) {
  return !transfer.from.placements()[at(mesh_dim)].is_shard() &&
         !contains(transfer.reduced_dims, mesh_dim);
}

int contribution_of(const Transfer& transfer, std::span<const int> coordinate) {
  int contribution = 0;
  for (const int d : transfer.reduced_dims)
    contribution = contribution * transfer.from.layout().shape()[at(d)] + coordinate[at(d)];
  return contribution;
}

std::vector<int> without_unit_dims(const DimSplit& split) {
  std::vector<int> result;
  for (std::size_t k = 0; k < split.mesh_dims.size(); ++k)
    if (split.sizes[k] > 1) result.push_back(split.mesh_dims[k]);
  return result;
}

/// Returns true only if every part of `to` lies in the part of `from` with the same coordinate. A
/// conservative test, which does not look at each part.
bool refines_at_sight(const DimSplit& from, const DimSplit& to) {
  const auto coarse = without_unit_dims(from);
  const auto fine = without_unit_dims(to);
  if (coarse.empty()) return true;
  if (from.boundaries.empty() && to.boundaries.empty())
    return coarse.size() <= fine.size() && std::equal(coarse.begin(), coarse.end(), fine.begin());
  return coarse == fine && from.boundaries == to.boundaries;
}

/// Returns the largest number of `others` with which one of `parts` has elements in common; at
/// least 1. Both are in ascending order.
std::int64_t most_meeting(const std::vector<Part>& parts, const std::vector<Part>& others) {
  std::int64_t most = 1;
  std::size_t first = 0;
  for (const auto& part : parts) {
    while (first < others.size() && others[first].interval.end <= part.interval.begin) ++first;
    auto last = first;
    while (last < others.size() && others[last].interval.begin < part.interval.end) ++last;
    most = std::max(most, static_cast<std::int64_t>(last - first));
  }
  return most;
}

/// Returns the largest number of boxes, in different parts of `others`, that a local piece of
/// `spec` consists of.
std::int64_t most_boxes(const DTensorSpec& spec, const DTensorSpec& others) {
  const std::vector<int> any(at(spec.layout().ndim()), -1);
  const std::vector<int> any_other(at(others.layout().ndim()), -1);
  std::int64_t boxes = 1;
  for (std::size_t k = 0; k < spec.shape().size(); ++k) {
    const Interval all{0, spec.shape()[k]};
    boxes *= most_meeting(parts_meeting(spec.split(k), all, any),
                          parts_meeting(others.split(k), all, any_other));
  }
  return boxes;
}

}  // namespace

int Transfer::contributions() const {
  int result = 1;
  for (const int d : reduced_dims) result *= from.layout().shape()[at(d)];
  return result;
}

bool Transfer::fetches(std::span<const int> coordinate) const {
  return std::ranges::all_of(first_only, [&](int d) { return coordinate[at(d)] == 0; });
}

std::vector<Block> blocks_to_receive(const Transfer& transfer, std::span<const int> coordinate) {
  std::vector<Block> blocks;
  const auto need = transfer.to.piece(coordinate);
  if (need.is_empty() || !transfer.fetches(coordinate)) return blocks;
  const auto& layout = transfer.from.layout();
  const std::vector<int> any(coordinate.size(), -1);
  std::vector<int> source(coordinate.begin(), coordinate.end());
  const int own_contribution = contribution_of(transfer, coordinate);
  for_each_cell(transfer.from, need, any, source, [&](const Box& box) {
    for_each_coordinate(layout, transfer.reduced_dims, source, [&](int contribution) {
      blocks.push_back({layout.mesh_rank(source), box, contribution, own_contribution});
    });
  });
  return blocks;
}

std::vector<Block> blocks_to_send(const Transfer& transfer, std::span<const int> coordinate) {
  std::vector<Block> blocks;
  const auto have = transfer.from.piece(coordinate);
  if (have.is_empty()) return blocks;
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
  const int contribution = contribution_of(transfer, coordinate);
  for_each_cell(transfer.to, have, fixed, target, [&](const Box& box) {
    for_each_coordinate(layout, free_dims, target, [&](int) {
      const int peer = layout.mesh_rank(target);
      if (peer != self)
        blocks.push_back({peer, box, contribution, contribution_of(transfer, target)});
    });
  });
  return blocks;
}

int most_peers(const Transfer& transfer) {
  const std::int64_t receive = transfer.contributions() * most_boxes(transfer.to, transfer.from);
  const std::int64_t send = copies(transfer) * most_boxes(transfer.from, transfer.to);
  return static_cast<int>(std::clamp<std::int64_t>(
      std::max(receive, send), 1,
      std::max(transfer.from.layout().size(), transfer.to.layout().size())));
}

int most_boxes(const Transfer& transfer) {
  return static_cast<int>(std::min<std::int64_t>(most_boxes(transfer.to, transfer.from),
                                                 transfer.from.layout().size()));
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

bool communicates(const Transfer& transfer) {
  if (product(transfer.from.shape()) == 0) return false;
  if (transfer.contributions() > 1) return true;
  if (keeps_own(transfer)) return false;
  const auto& layout = transfer.from.layout();
  for (int rank = 0; rank < layout.size(); ++rank)
    for (const auto& block : blocks_to_receive(transfer, layout.coordinate(rank)))
      if (block.peer != rank) return true;
  return false;
}

}  // namespace tessera::detail
