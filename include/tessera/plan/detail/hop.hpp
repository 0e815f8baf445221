// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/placement/placement.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

/// A box of the global tensor that travels between this rank and `peer` (a mesh rank; this rank
/// itself for what stays).
struct Block {
  int peer;
  Box box;
  int term = 0;  ///< for reductions: row-major position of the sender over the reduced mesh dims
  int receiver_term = 0;  ///< and of the receiver

  friend bool operator==(const Block&, const Block&) = default;
};

namespace detail {

/// One direct move between two distributions on the same mesh: every rank fetches what its `to`
/// piece needs.
///
/// Along a mesh dim that `from` does not shard, a rank fetches from its own coordinate, so what it
/// has it takes from itself. Along `term_dims` it fetches from every coordinate and reduces.
struct Hop {
  DTensorSpec from = {};
  DTensorSpec to = {};
  std::vector<int> term_dims = {};   ///< ascending; empty: nothing is reduced
  std::vector<int> first_only = {};  ///< mesh dims along which only coordinate 0 fetches
  ReduceOp op = ReduceOp::sum;
  std::int64_t divisor = 1;

  /// Number of terms of each element.
  int terms() const;
  /// Whether the rank of `to` at `coordinate` fetches anything.
  bool fetches(std::span<const int> coordinate) const;
  bool is_on_one_mesh() const { return from.layout() == to.layout(); }
};

/// What the rank at `coordinate` fetches, own blocks included: box by box, for each box its terms
/// in order.
std::vector<Block> blocks_to_receive(const Hop& hop, std::span<const int> coordinate);

/// What other ranks fetch from the rank at `coordinate`.
std::vector<Block> blocks_to_send(const Hop& hop, std::span<const int> coordinate);

/// No rank has more ranks to send to, or to receive from, itself included.
int most_peers(const Hop& hop);

/// No rank fetches more boxes; of a reduction, each of them as often as there are terms.
int most_boxes(const Hop& hop);

/// Every rank has in its own piece what it fetches, or a term of it, as one sees without looking at
/// all ranks.
bool keeps_own(const Hop& hop);

/// Ranks that fetch what one rank has, for each of the boxes in which it is fetched.
std::int64_t copies(const Hop& hop);

/// Some rank fetches something from another one. The same answer on every rank.
bool communicates(const Hop& hop);

}  // namespace detail
}  // namespace tessera
