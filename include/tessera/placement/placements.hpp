// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/placement/placement.hpp>

namespace tessera {

class Placements;

namespace detail {

/// Returns `placements` with negative tensor dims resolved for a tensor of `tensor_dims` dims.
///
/// Errors: InvalidArgument for a tensor dim out of range, placements meant for another number of
/// tensor dims, or what the constructors of Placements reject.
Placements resolved(const Placements& placements, int tensor_dims);

}  // namespace detail

/// Holds one Placement per mesh dim, and the split order if it is not that of the mesh dims.
///
/// Example: on a mesh (dp, tp), {Shard(0), Shard(0)} splits dim 0 by dp first, and
/// Placements({Shard(0), Shard(0)}, {1, 0}) by tp first. The default order is stored as none, so
/// equal placements compare and hash equal.
class Placements {
 public:
  /// Makes the placements for a mesh without dims.
  Placements() = default;
  /// Takes one placement per mesh dim; the first mesh dim that shards a tensor dim splits it first.
  Placements(std::initializer_list<Placement> placements);
  /// Takes a vector with one placement per mesh dim.
  Placements(std::vector<Placement> placements);
  /// Takes a split order: split_positions[mesh_dim] is the position of this mesh dim in the split
  /// order of its tensor dim, counted from 0, and 0 if it is not a sharding.
  ///
  /// Errors (all constructors): InvalidArgument for two kinds of Partial other than sum with avg;
  /// for a Cyclic with a block below 1; for a Cyclic or HeadTail that is not the only sharding of
  /// its tensor dim; and for positions that are not a permutation of 0 … k−1 among the k mesh dims
  /// of a tensor dim. `tensor_dims`, if given, is the number of dims of the tensors that these
  /// placements are meant for; a spec checks it.
  Placements(std::vector<Placement> placements, std::vector<int> split_positions,
             std::optional<int> tensor_dims = {});

  std::size_t size() const { return placements_.size(); }
  const Placement& operator[](std::size_t mesh_dim) const { return placements_[mesh_dim]; }
  auto begin() const { return placements_.begin(); }
  auto end() const { return placements_.end(); }

  /// Returns the mesh dims that shard `tensor_dim`, the one that splits it first at the front.
  std::vector<int> split_order(int tensor_dim) const;
  /// Returns the position of a mesh dim in the split order of its tensor dim; 0 if it is not a
  /// sharding.
  int split_position(int mesh_dim) const;
  /// Returns split_position() of each mesh dim.
  std::vector<int> split_positions() const;

  bool is_all_replicate() const;
  bool has_partial() const;
  /// Returns a hash of everything that == compares.
  std::uint64_t hash() const;

  /// Returns whether placements and split order are equal; the number of tensor dims does not
  /// count.
  friend bool operator==(const Placements& a, const Placements& b) {
    return a.placements_ == b.placements_ && a.split_positions_ == b.split_positions_;
  }

 private:
  friend Placements detail::resolved(const Placements&, int);

  std::vector<Placement> placements_;
  std::vector<int> split_positions_;  // empty: the order of the mesh dims
  std::optional<int> tensor_dims_;
};

/// Returns the placements as text: "S(0), R, P(sum)"; "S(0)[1], S(0)[0]" if the split order is not
/// that of the mesh dims.
std::string to_string(const Placements& placements);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const Placements& value);

/// Returns the placements that `text` describes, the inverse of to_string(). "P" means P(sum), and
/// spaces do not matter. Errors: InvalidArgument.
Placements parse_placements(std::string_view text);

}  // namespace tessera
