// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For perf_nn: which scores of attention a rank computes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tessera/extents/box.hpp>
#include <tessera/sharding/sections.hpp>

namespace tessera::detail {

/// Describes scores that are computed together: those of some queries with some keys of a block.
struct ScoreTile {
  Interval queries;  ///< local indices
  Interval keys;     ///< indices in the block
  bool is_empty() const { return queries.is_empty() || keys.is_empty(); }
};

/// Says which keys of a block the queries of a rank see: each one sees the first few keys, and a query sees as
/// many as the query before it, or more. So it is with causal attention under all sharding rules, since
/// ranks store their indices in ascending order.
class VisibleKeys {
 public:
  /// Lets all queries see all keys.
  VisibleKeys(std::int64_t queries, std::int64_t keys) : queries_(queries), keys_(keys) {}
  /// Lets each query see the keys with its global index and below.
  VisibleKeys(const Sections& queries, const Sections& keys);

  std::int64_t queries() const { return queries_; }
  std::int64_t keys() const { return keys_; }
  /// Returns the number of keys that each query sees; an empty list if all see all keys.
  const std::vector<std::int64_t>& counts() const { return counts_; }

  /// Returns the smallest tile with all scores of `queries` and `keys` that count.
  ScoreTile tile(Interval queries, Interval keys) const;
  /// Calls visit(tile) for tiles of at most `at_once` keys with all scores of `queries` that count.
  template <class Visit>
  void for_each_tile(Interval queries, std::int64_t at_once, const Visit& visit) const {
    for (std::int64_t begin = 0; begin < keys_; begin += at_once) {
      const auto found = tile(queries, {begin, std::min(begin + at_once, keys_)});
      if (!found.is_empty()) visit(found);
    }
  }

 private:
  std::int64_t queries_, keys_;
  std::vector<std::int64_t> counts_;
};

/// Returns the number of scores that tiles of these sizes compute for a batch and a head. It is the work of a
/// rank for one block of keys.
std::int64_t computed_scores(const VisibleKeys& visible, std::int64_t queries_at_once,
                             std::int64_t keys_at_once);

}  // namespace tessera::detail
