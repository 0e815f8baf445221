// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>

#include "rivals.hpp"

namespace tessera::perf {

Blocks blocks(const Geometry& geometry, double* source, double* target) {
  Blocks result{geometry.rank, {}, {}};
  const auto& mine_before = geometry.source[geometry.self()];
  const auto& mine_after = geometry.target[geometry.self()];
  for (std::size_t rank = 0; rank < geometry.source.size(); ++rank) {
    const auto sent = intersect(mine_before, geometry.target[rank]);
    const auto received = intersect(geometry.source[rank], mine_after);
    result.outgoing.push_back(block(source, mine_before, sent));
    result.incoming.push_back(block(target, mine_after, received));
  }
  return result;
}

Counts packed_counts(const std::vector<Block>& blocks) {
  Counts result;
  int position = 0;
  for (const auto& block : blocks) {
    result.counts.push_back(static_cast<int>(block.size()));
    result.positions.push_back(position);
    position += result.counts.back();
  }
  return result;
}

Counts counts_in_place(const std::vector<Block>& blocks, const double* data) {
  Counts result;
  for (const auto& block : blocks) {
    result.counts.push_back(static_cast<int>(block.size()));
    result.positions.push_back(block.size() == 0 ? 0 : static_cast<int>(block.data - data));
  }
  return result;
}

bool are_contiguous(const std::vector<Block>& blocks) {
  return std::ranges::all_of(blocks, &Block::is_contiguous);
}

std::int64_t total_size(const std::vector<Block>& blocks) {
  return std::transform_reduce(blocks.begin(), blocks.end(), std::int64_t{0}, std::plus<>(),
                               [](const Block& block) { return block.size(); });
}

void pack_all(const std::vector<Block>& blocks, double* to) {
  for (const auto& block : blocks) {
    pack(block, to);
    to += block.size();
  }
}

void unpack_all(const double* from, const std::vector<Block>& blocks) {
  for (const auto& block : blocks) {
    unpack(from, block);
    from += block.size();
  }
}

}  // namespace tessera::perf
