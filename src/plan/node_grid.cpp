// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>

#include "plan/cells.hpp"
#include "plan/node_grid.hpp"
#include "plan/specs.hpp"

namespace tessera::detail {
namespace {

bool divide(const Extents& ranks_per_node, const std::vector<int>& shape) {
  if (ranks_per_node.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (ranks_per_node[d] < 1 || shape[d] % ranks_per_node[d] != 0) return false;
  return true;
}

/// Returns the shape of the finer mesh: mesh dim 2d is between nodes, 2d + 1 within a node.
std::vector<int> finer_shape(const MeshLayout& layout, const Extents& ranks_per_node) {
  std::vector<int> shape;
  for (std::size_t d = 0; d < ranks_per_node.size(); ++d) {
    const auto within = static_cast<int>(ranks_per_node[d]);
    shape.push_back(layout.shape()[d] / within);
    shape.push_back(within);
  }
  return shape;
}

/// Returns the spec that is `between` between nodes, and in which each node's part is split
/// further, as `within` splits tensor dims along the mesh dims within a node.
DTensorSpec mixed(const DTensorSpec& between, const DTensorSpec& within, const NodeGrid& nodes) {
  auto result = replicated_along(between, nodes.dims_within());
  for (int k = 0; k < within.tensor_dims(); ++k) {
    std::vector<int> dims;
    for (const int d : within.split(at(k)).mesh_dims)
      if (contains(nodes.dims_within(), d)) dims.push_back(d);
    if (!dims.empty()) result = split_further(result, k, dims);
  }
  return result;
}

}  // namespace

NodeGrid::NodeGrid(const MeshLayout& layout, const Extents& ranks_per_node)
    : layout_(layout), ranks_per_node_(ranks_per_node) {
  require(divide(ranks_per_node, layout.shape()), [&] {
    return fmt::format("expected ranks_per_node to divide mesh {}, dim by dim, got {}",
                       to_string(layout), to_string(ranks_per_node));
  });
  finer_ = layout.reshaped(finer_shape(layout, ranks_per_node));
  for (int d = 1; d < finer_.ndim(); d += 2)
    if (finer_.shape()[at(d)] > 1) dims_within_.push_back(d);
}

int NodeGrid::ranks_per_node() const {
  return static_cast<int>(product(ranks_per_node_));
}

bool NodeGrid::are_on_one_node(int mesh_rank, int other) const {
  for (auto d = layout_.shape().size(); d-- > 0;) {
    const int size = layout_.shape()[d];
    const auto within = static_cast<int>(ranks_per_node_[d]);
    if (mesh_rank % size / within != other % size / within) return false;
    mesh_rank /= size;
    other /= size;
  }
  return true;
}

std::vector<int> NodeGrid::ranks_on_node(int mesh_rank) const {
  auto coordinate = finer_.coordinate(mesh_rank);
  std::vector<int> result;
  for_each_coordinate(finer_, dims_within_, coordinate,
                      [&](int) { result.push_back(finer_.mesh_rank(coordinate)); });
  return result;
}

bool NodeGrid::is_between_nodes(const std::vector<int>& mesh_dims) const {
  return std::ranges::any_of(
      mesh_dims, [&](int d) { return ranks_per_node_[at(d)] < layout_.shape()[at(d)]; });
}

DTensorSpec NodeGrid::finer(const DTensorSpec& spec) const {
  std::vector<Placement> placements;
  std::vector<int> positions;
  const auto coarse_positions = spec.placements().split_positions();
  for (std::size_t d = 0; d < spec.placements().size(); ++d) {
    const bool is_shard = spec.placements()[d].is_shard();
    for (const int level : {0, 1}) {
      placements.push_back(is_shard ? Placement(Shard(spec.placements()[d].dim()))
                                    : spec.placements()[d]);
      positions.push_back(is_shard ? 2 * coarse_positions[d] + level : 0);
    }
  }
  Boundaries boundaries;
  for (std::size_t k = 0; k < spec.shape().size(); ++k)
    boundaries.push_back(spec.split(k).mesh_dims.empty() ? std::vector<std::int64_t>()
                                                         : spec.split(k).explicit_boundaries());
  return make_spec(finer_, Placements(std::move(placements), std::move(positions)), spec.shape(),
                   std::move(boundaries));
}

Transfer NodeGrid::finer(const Transfer& transfer) const {
  return {.from = finer(transfer.from), .to = finer(transfer.to)};
}

std::vector<Transfer> by_way_of_nodes(const Transfer& finer, const NodeGrid& nodes) {
  const auto sorted = mixed(finer.from, finer.to, nodes);
  const auto arrived = mixed(finer.to, finer.from, nodes);
  return {{.from = finer.from, .to = sorted},
          {.from = sorted, .to = arrived},
          {.from = arrived, .to = finer.to}};
}

std::vector<Transfer> shared_on_nodes(const Transfer& finer, const NodeGrid& nodes,
                                      int tensor_dim) {
  std::vector<int> sharing;
  for (const int d : nodes.dims_within())
    if (finer.to.placements()[at(d)].is_replicate()) sharing.push_back(d);
  if (sharing.empty()) return {finer};
  const auto shares = split_further(finer.to, tensor_dim, sharing);
  return {{.from = finer.from, .to = shares}, {.from = shares, .to = finer.to}};
}

}  // namespace tessera::detail
