// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tessera/placement/placement.hpp>
#include <tessera/sharding/sections.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

/// A Block is a part of what travels between this rank and `peer`, a mesh rank; `peer` is this rank
/// itself for what stays. Blocks of one peer that follow one another travel in one message. A block
/// is the product of one list of runs per tensor dim, see Blocks::runs().
struct Block {
  int peer;
  Extents shape;  ///< extents of the block; its elements need not lie together on either side
  /// Identifies the sender's contribution to a reduction: its row-major number over the reduced
  /// mesh dims.
  int contribution = 0;
  int receiver_contribution = 0;  ///< the same for the receiver's contribution
  std::array<std::int32_t, max_tensor_dims> runs = {};  ///< numbers of its lists in Blocks

  /// Returns the number of elements.
  std::int64_t size() const { return product(shape); }
};

/// Holds blocks, and the lists of runs of which they are products. Blocks that lie alike along a
/// tensor dim share the list, so that memory grows with the number of blocks and of runs per tensor
/// dim, not with their product.
class Blocks {
 public:
  auto begin() const { return blocks_.begin(); }
  auto end() const { return blocks_.end(); }
  std::size_t size() const { return blocks_.size(); }
  bool empty() const { return blocks_.empty(); }
  const Block& operator[](std::size_t i) const { return blocks_[i]; }
  const Block& front() const { return blocks_.front(); }

  /// Returns where the block lies along a tensor dim in the local pieces of sender (from) and
  /// receiver (to).
  const std::vector<IndexRun>& runs(const Block& block, std::size_t tensor_dim) const {
    return lists_[static_cast<std::size_t>(block.runs[tensor_dim])];
  }
  /// Returns the number of lists of runs.
  std::size_t lists() const { return lists_.size(); }

  /// Adds a list of runs and returns its number.
  std::int32_t add(std::vector<IndexRun> runs) {
    lists_.push_back(std::move(runs));
    return static_cast<std::int32_t>(lists_.size() - 1);
  }
  void push_back(const Block& block) { blocks_.push_back(block); }
  /// Returns the same blocks on their way back: sender and receiver of each run change places.
  Blocks reversed() const {
    auto result = *this;
    for (auto& list : result.lists_)
      for (auto& run : list) std::swap(run.from, run.to);
    return result;
  }
  /// Returns the blocks whose peer is one for which belongs(peer) is true, with all lists.
  template <class Belongs>
  Blocks with_peers(const Belongs& belongs) const {
    auto result = *this;
    std::erase_if(result.blocks_, [&](const Block& block) { return !belongs(block.peer); });
    return result;
  }
  /// Gives each peer the number number(peer).
  template <class Number>
  void renumber(const Number& number) {
    for (auto& block : blocks_) block.peer = number(block.peer);
  }

 private:
  std::vector<Block> blocks_;
  std::vector<std::vector<IndexRun>> lists_;
};

namespace detail {

/// A Transfer is one direct move between two distributions: every rank fetches what its local piece
/// of `to` needs. Both are on one mesh, unless MeshPair numbers the ranks of two.
///
/// Along a mesh dim that `from` does not shard, and along `kept_dims`, a rank fetches from its own
/// coordinate, so that it takes what it has from itself. Along `reduced_dims` it fetches from every
/// coordinate and reduces.
struct Transfer {
  DTensorSpec from = {};
  DTensorSpec to = {};
  std::vector<int> reduced_dims = {};  ///< mesh dims that are reduced, ascending; empty: none
  std::vector<int> first_only = {};    ///< mesh dims along which only coordinate 0 fetches
  ReduceOp op = ReduceOp::sum;
  std::int64_t divisor = 1;
  /// Lists mesh dims that `from` shards, and along which a rank fetches from its own coordinate
  /// alone: each rank keeps its share of what becomes Partial.
  std::vector<int> kept_dims = {};
  /// Gives the distribution of the arrays from which data is taken, if it is not `from`: there, a
  /// rank's piece of `from` is a slice of a larger piece.
  std::optional<DTensorSpec> taken_from = {};

  /// Returns the distribution of the arrays from which data is taken.
  const DTensorSpec& source() const { return taken_from ? *taken_from : from; }
  /// Returns the number of contributions to each element.
  int contributions() const;
  /// Returns whether the rank of `to` at `coordinate` fetches anything.
  bool fetches(std::span<const int> coordinate) const;
  bool is_on_one_mesh() const { return from.layout() == to.layout(); }
};

/// Returns what the rank at `coordinate` fetches, its own blocks included: for each part of its
/// piece that lies on one rank, the contributions in order.
Blocks blocks_to_receive(const Transfer& transfer, std::span<const int> coordinate);

/// Returns what other ranks fetch from the rank at `coordinate`.
Blocks blocks_to_send(const Transfer& transfer, std::span<const int> coordinate);

/// Returns an upper bound on the number of ranks that a rank sends to, or receives from, itself
/// included.
int most_peers(const Transfer& transfer);

/// Returns an upper bound on the number of blocks that a rank fetches from ranks which differ in
/// what they hold; a reduction fetches each of them once for each contribution.
int most_parts(const Transfer& transfer);

/// Returns true only if every rank owns what it fetches, or a contribution to it. A conservative
/// test, which compares the splits and does not look at each rank.
bool keeps_own(const Transfer& transfer);

/// Returns whether ranks fetch only from their own coordinate along this mesh dim.
bool stays(const Transfer& transfer, int mesh_dim);

/// Returns the number of ranks that fetch each element of what one rank holds.
std::int64_t copies(const Transfer& transfer);

/// Returns for each mesh dim the only coordinate from which the rank at `coordinate` fetches
/// although `from` may shard it, otherwise -1.
std::vector<int> fixed_senders(const Transfer& transfer, std::span<const int> coordinate);

/// Returns whether some rank fetches something from another one; equal on every rank.
bool communicates(const Transfer& transfer);

}  // namespace detail
}  // namespace tessera
