// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: the fixed tree of a reduction whose operands arrive in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/order.hpp"

namespace tessera::detail {

/// Which results of a fixed tree (see split_point()) are at hand while its leaves come one after
/// another, starting anywhere. Results lie in numbered slots.
class PartialTree {
 public:
  /// Two results that are combined next, left one first, in the left one's slot; of the root it is
  /// the whole.
  struct Merge {
    int left;
    int right;
    bool is_root;
  };

  explicit PartialTree(int leaves) : leaves_(leaves) {}

  /// Slots that suffice where the leaves come in order or in reverse, cyclically.
  static int slots(int leaves);

  int leaves() const { return leaves_; }
  /// The slot for the result of this leaf. Once each.
  int add(int leaf);
  void clear() { nodes_.clear(); }
  /// What the last leaf, or the last merge, makes possible. After the root, all slots are free.
  std::optional<Merge> merge();

 private:
  /// The result of leaves first … last - 1.
  struct Node {
    int first;
    int last;
    int slot;
  };

  Node parent(const Node& node) const;

  int leaves_;
  std::vector<Node> nodes_;  ///< the newest last
};

/// Whether terms are received group by group, so many at once: where that takes less memory than
/// buffers for two chunks of all that a rank would await.
inline bool come_in_groups(std::int64_t awaited, int terms, int at_once) {
  return 2 * at_once + PartialTree::slots(groups_of(terms, at_once)) < 2 * awaited;
}

}  // namespace tessera::detail
