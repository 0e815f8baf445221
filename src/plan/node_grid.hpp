// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute and debug: how a mesh lies on nodes.
#pragma once

#include <vector>

#include <tessera/plan/detail/hop.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// A mesh on several nodes as the planner sees it: each mesh dim is one between nodes and one
/// within a node.
class NodeGrid {
 public:
  /// `ranks_per_node`: see RedistributeOptions, one per mesh dim. Errors: InvalidArgument for
  /// numbers that do not divide the sizes of the mesh dims.
  NodeGrid(const MeshLayout& layout, const Extents& ranks_per_node, const char* function);

  int ranks_per_node() const;
  bool are_near(int mesh_rank, int other) const;
  /// Mesh ranks on the node of this one, itself included, ascending.
  std::vector<int> near_ranks(int mesh_rank) const;
  /// Some ranks along these mesh dims are on different nodes.
  bool is_between_nodes(const std::vector<int>& mesh_dims) const;

  /// The same distribution on the finer mesh of the same ranks.
  DTensorSpec finer(const DTensorSpec& spec) const;
  /// A hop that reduces nothing, between the same distributions there.
  Hop finer(const Hop& hop) const;
  /// Mesh dims of the finer mesh along which several ranks are on one node.
  const std::vector<int>& dims_within() const { return dims_within_; }

 private:
  MeshLayout layout_;
  Extents ranks_per_node_;
  MeshLayout finer_;
  std::vector<int> dims_within_;
};

/// Ways of a hop on the finer mesh.
///
/// Few large messages instead of many small ones: the ranks of a node sort what they send by nodes,
/// each rank exchanges with few other nodes, and ranks pass on what arrived to those on their node.
std::vector<Hop> by_way_of_nodes(const Hop& finer, const NodeGrid& nodes);

/// What several ranks of a node need comes to it once: each fetches a share along `tensor_dim`,
/// then they pass the shares round. The hop alone where they need nothing in common.
std::vector<Hop> shared_on_nodes(const Hop& finer, const NodeGrid& nodes, int tensor_dim);

}  // namespace tessera::detail
