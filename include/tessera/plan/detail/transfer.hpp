// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/placement/placement.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

/// A Block is a box of the global tensor that travels between this rank and `peer`, a mesh rank;
/// `peer` is this rank itself for what stays.
struct Block {
  int peer;
  Box box;
  /// Identifies the sender's contribution to a reduction: its row-major number over the reduced
  /// mesh dims.
  int contribution = 0;
  int receiver_contribution = 0;  ///< the same for the receiver's contribution

  friend bool operator==(const Block&, const Block&) = default;
};

namespace detail {

/// A Transfer is one direct move between two distributions: every rank fetches what its local piece
/// of `to` needs. Both are on one mesh, unless MeshPair numbers the ranks of two.
///
/// Along a mesh dim that `from` does not shard, a rank fetches from its own coordinate, so that it
/// takes what it has from itself. Along `reduced_dims` it fetches from every coordinate and
/// reduces.
struct Transfer {
  DTensorSpec from = {};
  DTensorSpec to = {};
  std::vector<int> reduced_dims = {};  ///< mesh dims that are reduced, ascending; empty: none
  std::vector<int> first_only = {};    ///< mesh dims along which only coordinate 0 fetches
  ReduceOp op = ReduceOp::sum;
  std::int64_t divisor = 1;

  /// Returns the number of contributions to each element.
  int contributions() const;
  /// Returns whether the rank of `to` at `coordinate` fetches anything.
  bool fetches(std::span<const int> coordinate) const;
  bool is_on_one_mesh() const { return from.layout() == to.layout(); }
};

/// Returns what the rank at `coordinate` fetches, its own blocks included: box by box, for each box
/// its contributions in order.
std::vector<Block> blocks_to_receive(const Transfer& transfer, std::span<const int> coordinate);

/// Returns what other ranks fetch from the rank at `coordinate`.
std::vector<Block> blocks_to_send(const Transfer& transfer, std::span<const int> coordinate);

/// Returns an upper bound on the number of ranks that a rank sends to, or receives from, itself
/// included.
int most_peers(const Transfer& transfer);

/// Returns an upper bound on the number of boxes that a rank fetches; a reduction fetches each box
/// once for each contribution.
int most_boxes(const Transfer& transfer);

/// Returns true only if every rank owns what it fetches, or a contribution to it. A conservative
/// test, which compares the splits and does not look at each rank.
bool keeps_own(const Transfer& transfer);

/// Returns the number of ranks that fetch each box of what one rank holds.
std::int64_t copies(const Transfer& transfer);

/// Returns whether some rank fetches something from another one; equal on every rank.
bool communicates(const Transfer& transfer);

}  // namespace detail
}  // namespace tessera
