// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "plan/partial_tree.hpp"
#include "plan/split_point.hpp"

namespace tessera::detail {

/// Counts one branch of each size on either side, and the newest leaf: the leaves at hand are the
/// first ones and the last ones, or a range between two others.
int PartialTree::slots(int leaves) {
  return 2 * std::bit_width(static_cast<unsigned>(leaves - 1)) + 1;
}

int PartialTree::add(int leaf) {
  int slot = 0;
  while (std::ranges::find(nodes_, slot, &Node::slot) != nodes_.end()) ++slot;
  nodes_.push_back({leaf, leaf + 1, slot});
  return slot;
}

PartialTree::Node PartialTree::parent(const Node& node) const {
  Node around{0, leaves_, node.slot};
  for (;;) {
    const auto middle = static_cast<int>(split_point(around.first, around.last));
    const auto half = node.first < middle ? Node{around.first, middle, node.slot}
                                          : Node{middle, around.last, node.slot};
    if (half.first == node.first && half.last == node.last) return around;
    around = half;
  }
}

std::optional<PartialTree::Merge> PartialTree::merge() {
  const auto node = nodes_.back();
  if (node.last - node.first == leaves_) {
    nodes_.clear();
    return {};
  }
  const auto joined = parent(node);
  const bool is_left = node.first == joined.first;
  const auto sibling = std::ranges::find_if(nodes_, [&](const Node& other) {
    return is_left ? other.first == node.last && other.last == joined.last
                   : other.first == joined.first && other.last == node.first;
  });
  if (sibling == nodes_.end()) return {};
  const Merge result{is_left ? node.slot : sibling->slot, is_left ? sibling->slot : node.slot,
                     joined.last - joined.first == leaves_};
  nodes_.erase(sibling);
  nodes_.back() = {joined.first, joined.last, result.left};
  return result;
}

}  // namespace tessera::detail
