// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: the fixed tree of a reduction whose operands arrive in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/order.hpp"

namespace tessera::detail {

/// Records which results of a fixed tree (see split_point()) are at hand while its leaves come one
/// after another, starting anywhere. Results lie in numbered slots.
class PartialTree {
 public:
  /// Names two results that are combined next, the left one first, into the slot of the left one.
  /// For the root, the combination is the final result.
  struct Merge {
    int left;
    int right;
    bool is_root;
  };

  explicit PartialTree(int leaves) : leaves_(leaves) {}

  /// Returns a number of slots that suffices if the leaves come in order or in reverse, cyclically.
  static int slots(int leaves);

  int leaves() const { return leaves_; }
  /// Returns the slot for the result of this leaf. Call it once for each leaf.
  int add(int leaf);
  void clear() { nodes_.clear(); }
  /// Returns the merge that the last leaf, or the last merge, makes possible. After the root, all
  /// slots are free.
  std::optional<Merge> merge();

 private:
  /// Holds the result of leaves first … last - 1.
  struct Node {
    int first;
    int last;
    int slot;
  };

  Node parent(const Node& node) const;

  int leaves_;
  std::vector<Node> nodes_;  ///< the newest last
};

/// Returns whether operands are received in groups of `at_once`: if that takes less memory than
/// buffers for two chunks of all operands that a rank would await.
inline bool come_in_groups(std::int64_t awaited, int operands, int at_once) {
  return 2 * at_once + PartialTree::slots(groups_of(operands, at_once)) < 2 * awaited;
}

}  // namespace tessera::detail
