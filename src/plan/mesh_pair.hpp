// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute and debug: the ranks of two meshes as one group.
#pragma once

#include <vector>

#include <tessera/plan/detail/transfer.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// Lists the ranks of two mesh layouts of one communicator together. A redistribution from one mesh
/// to the other numbers ranks by position in this list.
class MeshPair {
 public:
  MeshPair(const MeshLayout& source, const MeshLayout& target);

  /// Returns the ranks of the communicator, ascending.
  const std::vector<int>& ranks() const { return ranks_; }
  int size() const { return static_cast<int>(ranks_.size()); }

  /// Returns the mesh rank of the rank at `position` in `layout`, one of the two; -1 off that mesh.
  int mesh_rank(const MeshLayout& layout, int position) const;
  int position(const MeshLayout& layout, int mesh_rank) const;
  /// Returns what the rank at `position` holds; an empty piece off the spec's mesh.
  Piece piece(const DTensorSpec& spec, int position) const;

 private:
  struct Numbers {
    std::vector<int> by_position;
    std::vector<int> by_mesh_rank;
  };
  const Numbers& numbers(const MeshLayout& layout) const {
    return layout == source_ ? source_numbers_ : target_numbers_;
  }

  MeshLayout source_;
  std::vector<int> ranks_;
  Numbers source_numbers_;
  Numbers target_numbers_;
};

/// Returns the blocks that the rank at `position` receives; blocks_to_send() returns those that it
/// sends. Peers are positions in the pair. The transfer is on one of the two meshes or from one to
/// the other.
///
/// From one mesh to the other, `from` has no Partial. A rank fetches its own copy of an element if
/// it has one, else a copy that its coordinate on the target selects: so target ranks spread their
/// requests over the replicas.
Blocks blocks_to_receive(const Transfer& transfer, const MeshPair& pair, int position);
Blocks blocks_to_send(const Transfer& transfer, const MeshPair& pair, int position);

/// Returns whether some rank fetches something from another one.
bool communicates(const Transfer& transfer, const MeshPair& pair);

}  // namespace tessera::detail
