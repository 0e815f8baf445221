// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tessera/plan/detail/hop.hpp>

#include "plan/cells.hpp"
#include "plan/specs.hpp"

namespace tessera::detail {

namespace {

/// Returns whether ranks fetch only from their own coordinate along this mesh dim.
bool stays(const Hop& hop, int mesh_dim) {
  return !hop.from.placements()[at(mesh_dim)].is_shard() && !contains(hop.term_dims, mesh_dim);
}

int term_of(const Hop& hop, std::span<const int> coordinate) {
  int term = 0;
  for (const int d : hop.term_dims)
    term = term * hop.from.layout().shape()[at(d)] + coordinate[at(d)];
  return term;
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

int Hop::terms() const {
  int result = 1;
  for (const int d : term_dims) result *= from.layout().shape()[at(d)];
  return result;
}

bool Hop::fetches(std::span<const int> coordinate) const {
  return std::ranges::all_of(first_only, [&](int d) { return coordinate[at(d)] == 0; });
}

std::vector<Block> blocks_to_receive(const Hop& hop, std::span<const int> coordinate) {
  std::vector<Block> blocks;
  const auto need = hop.to.piece(coordinate);
  if (need.is_empty() || !hop.fetches(coordinate)) return blocks;
  const auto& layout = hop.from.layout();
  const std::vector<int> any(coordinate.size(), -1);
  std::vector<int> source(coordinate.begin(), coordinate.end());
  const int own_term = term_of(hop, coordinate);
  for_each_cell(hop.from, need, any, source, [&](const Box& box) {
    for_each_coordinate(layout, hop.term_dims, source, [&](int term) {
      blocks.push_back({layout.mesh_rank(source), box, term, own_term});
    });
  });
  return blocks;
}

std::vector<Block> blocks_to_send(const Hop& hop, std::span<const int> coordinate) {
  std::vector<Block> blocks;
  const auto have = hop.from.piece(coordinate);
  if (have.is_empty()) return blocks;
  const auto& layout = hop.from.layout();
  std::vector<int> fixed(coordinate.size(), -1);
  std::vector<int> free_dims;
  std::vector<int> target(coordinate.begin(), coordinate.end());
  for (int d = 0; d < layout.ndim(); ++d) {
    if (stays(hop, d))
      fixed[at(d)] = coordinate[at(d)];
    else if (contains(hop.first_only, d))
      target[at(d)] = 0;
    else if (!hop.to.placements()[at(d)].is_shard())
      free_dims.push_back(d);
  }
  if (!hop.fetches(target)) return blocks;
  const int self = layout.mesh_rank(coordinate);
  const int term = term_of(hop, coordinate);
  for_each_cell(hop.to, have, fixed, target, [&](const Box& box) {
    for_each_coordinate(layout, free_dims, target, [&](int) {
      const int peer = layout.mesh_rank(target);
      if (peer != self) blocks.push_back({peer, box, term, term_of(hop, target)});
    });
  });
  return blocks;
}

int most_peers(const Hop& hop) {
  const std::int64_t receive = hop.terms() * most_boxes(hop.to, hop.from);
  const std::int64_t send = copies(hop) * most_boxes(hop.from, hop.to);
  return static_cast<int>(std::clamp<std::int64_t>(
      std::max(receive, send), 1, std::max(hop.from.layout().size(), hop.to.layout().size())));
}

int most_boxes(const Hop& hop) {
  return static_cast<int>(
      std::min<std::int64_t>(most_boxes(hop.to, hop.from), hop.from.layout().size()));
}

bool keeps_own(const Hop& hop) {
  bool result = hop.is_on_one_mesh();
  for (std::size_t d = 0; d < hop.from.shape().size(); ++d)
    result = result && refines_at_sight(hop.from.split(d), hop.to.split(d));
  return result;
}

std::int64_t copies(const Hop& hop) {
  std::int64_t result = 1;
  const auto& target = hop.to.layout();
  for (int d = 0; d < target.ndim(); ++d)
    if (!(hop.is_on_one_mesh() && stays(hop, d)) && !hop.to.placements()[at(d)].is_shard())
      result *= target.shape()[at(d)];
  return result;
}

bool communicates(const Hop& hop) {
  if (product(hop.from.shape()) == 0) return false;
  if (hop.terms() > 1) return true;
  if (keeps_own(hop)) return false;
  const auto& layout = hop.from.layout();
  for (int rank = 0; rank < layout.size(); ++rank)
    for (const auto& block : blocks_to_receive(hop, layout.coordinate(rank)))
      if (block.peer != rank) return true;
  return false;
}

}  // namespace tessera::detail
