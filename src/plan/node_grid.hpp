// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute and debug: how a mesh lies on nodes.
#pragma once

#include <vector>

#include <tessera/plan/detail/transfer.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// Describes a mesh on several nodes for the planner: each mesh dim becomes one between nodes and
/// one within a node.
class NodeGrid {
 public:
  /// Takes `ranks_per_node`, one number per mesh dim, see PlanOptions. Errors:
  /// InvalidArgument for numbers that do not divide the sizes of the mesh dims.
  NodeGrid(const MeshLayout& layout, const Extents& ranks_per_node);

  int ranks_per_node() const;
  bool are_on_one_node(int mesh_rank, int other) const;
  /// Returns the mesh ranks on the node of this one, itself included, ascending.
  std::vector<int> ranks_on_node(int mesh_rank) const;
  /// Returns whether some ranks along these mesh dims are on different nodes.
  bool is_between_nodes(const std::vector<int>& mesh_dims) const;

  /// Returns the same distribution on the finer mesh, which has the same ranks. Expects pieces that
  /// are intervals along every tensor dim.
  DTensorSpec finer(const DTensorSpec& spec) const;
  /// Returns the transfer between the same distributions on the finer mesh. Expects one that
  /// reduces nothing, between pieces that are boxes.
  Transfer finer(const Transfer& transfer) const;
  /// Returns the mesh dims of the finer mesh along which several ranks are on one node.
  const std::vector<int>& dims_within() const { return dims_within_; }

 private:
  MeshLayout layout_;
  Extents ranks_per_node_;
  MeshLayout finer_;
  std::vector<int> dims_within_;
};

/// Returns the path of a transfer by way of nodes; `finer` is the transfer on the finer mesh.
///
/// It has few large messages instead of many small ones: the ranks of a node sort what they send by
/// target node, each rank exchanges with few other nodes, and ranks pass on what has arrived to the
/// ranks of their node.
std::vector<Transfer> by_way_of_nodes(const Transfer& finer, const NodeGrid& nodes);

/// Returns a path on which data that several ranks of a node need is sent to the node once: each of
/// them fetches a share along `tensor_dim`, then they exchange the shares. Returns the transfer
/// alone if they need nothing in common.
std::vector<Transfer> shared_on_nodes(const Transfer& finer, const NodeGrid& nodes, int tensor_dim);

}  // namespace tessera::detail
