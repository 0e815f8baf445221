// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute and debug: the ranks of two meshes as one group.
#pragma once

#include <vector>

#include <tessera/plan/detail/hop.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// The ranks of two mesh layouts of one communicator as one list: a redistribution from one mesh to
/// the other numbers its ranks by position in it.
class MeshPair {
 public:
  MeshPair(const MeshLayout& source, const MeshLayout& target);

  /// Of the communicator, ascending.
  const std::vector<int>& ranks() const { return ranks_; }
  int size() const { return static_cast<int>(ranks_.size()); }

  /// The rank at a position as `layout`, one of the two, numbers it; -1 off that mesh.
  int mesh_rank(const MeshLayout& layout, int position) const;
  int position(const MeshLayout& layout, int mesh_rank) const;
  /// What the rank at a position holds; an empty box off the spec's mesh.
  Box piece(const DTensorSpec& spec, int position) const;

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

/// blocks_to_receive and blocks_to_send of a hop on one of two meshes or from one to the other, by
/// positions in the pair.
///
/// From one to the other, `from` has no Partial. Of the copies of an element a rank fetches its
/// own, else one that its coordinate on the target names, so that targets share out what is
/// replicated.
std::vector<Block> blocks_to_receive(const Hop& hop, const MeshPair& pair, int position);
std::vector<Block> blocks_to_send(const Hop& hop, const MeshPair& pair, int position);

/// Some rank fetches something from another one.
bool communicates(const Hop& hop, const MeshPair& pair);

}  // namespace tessera::detail
