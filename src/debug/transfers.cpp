// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "debug/transfers.hpp"

namespace tessera::detail {
namespace {

bool precedes(const BlockTransfer& a, const BlockTransfer& b) {
  const auto ranks_a = std::tie(a.sender, a.receiver, a.contribution);
  const auto ranks_b = std::tie(b.sender, b.receiver, b.contribution);
  if (ranks_a != ranks_b) return ranks_a < ranks_b;
  if (a.shape != b.shape) return std::ranges::lexicographical_compare(a.shape, b.shape);
  return std::ranges::lexicographical_compare(
      a.runs, b.runs, [](const IndexRun& x, const IndexRun& y) {
        const auto numbers = [](const IndexRun& run) {
          return std::tie(run.extent, run.block, run.from.offset, run.from.stride, run.to.offset,
                          run.to.stride);
        };
        return numbers(x) < numbers(y);
      });
}

/// Returns the first of `transfers` that is not among `others`, or null. Both must be sorted.
const BlockTransfer* first_without(const std::vector<BlockTransfer>& transfers,
                                   const std::vector<BlockTransfer>& others) {
  auto other = others.begin();
  for (const auto& transfer : transfers) {
    while (other != others.end() && precedes(*other, transfer)) ++other;
    if (other == others.end() || precedes(transfer, *other)) return &transfer;
    ++other;
  }
  return nullptr;
}

}  // namespace

BlockTransfer transfer_of(int sender, int receiver, const Blocks& blocks, const Block& block) {
  BlockTransfer result{sender, receiver, block.shape, {}, block.contribution};
  for (std::size_t d = 0; d < block.shape.size(); ++d) {
    const auto& runs = blocks.runs(block, d);
    result.runs.insert(result.runs.end(), runs.begin(), runs.end());
  }
  return result;
}

std::string transfer_mistake(std::vector<BlockTransfer> sent, std::vector<BlockTransfer> received) {
  std::ranges::sort(sent, precedes);
  std::ranges::sort(received, precedes);
  if (const auto* lost = first_without(sent, received))
    return fmt::format("rank {} sends a block of shape {} to rank {}, which does not await it",
                       lost->sender, to_string(lost->shape), lost->receiver);
  if (const auto* awaited = first_without(received, sent))
    return fmt::format("rank {} awaits a block of shape {} from rank {}, which does not send it",
                       awaited->receiver, to_string(awaited->shape), awaited->sender);
  return "";
}

}  // namespace tessera::detail
