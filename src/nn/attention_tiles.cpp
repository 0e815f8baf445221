// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_tiles.hpp"

namespace tessera::detail {

VisibleKeys::VisibleKeys(const Sections& queries, const Sections& keys)
    : VisibleKeys(queries.extent(), keys.extent()) {
  if (queries_ == 0 || keys.count_below(queries.global_index(0) + 1) == keys_) return;
  counts_.reserve(static_cast<std::size_t>(queries_));
  for (std::int64_t i = 0; i < queries_; ++i)
    counts_.push_back(keys.count_below(queries.global_index(i) + 1));
}

ScoreTile VisibleKeys::tile(Interval queries, Interval keys) const {
  if (counts_.empty() || queries.is_empty()) return {queries, keys};
  const auto first = counts_.begin() + queries.begin, last = counts_.begin() + queries.end;
  const auto seeing = std::upper_bound(first, last, keys.begin);
  return {{seeing - counts_.begin(), queries.end},
          {keys.begin, std::min(keys.end, *std::prev(last))}};
}

std::int64_t computed_scores(const VisibleKeys& visible, std::int64_t queries_at_once,
                             std::int64_t keys_at_once) {
  std::int64_t result = 0;
  for (std::int64_t begin = 0; begin < visible.queries(); begin += queries_at_once)
    visible.for_each_tile(
        {begin, std::min(begin + queries_at_once, visible.queries())}, keys_at_once,
        [&](const ScoreTile& tile) { result += tile.queries.size() * tile.keys.size(); });
  return result;
}

}  // namespace tessera::detail
