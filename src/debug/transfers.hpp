// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tessera/plan/detail/transfer.hpp>

namespace tessera::detail {

/// Describes the transfer of one block, as its sender or its receiver sees it.
struct BlockTransfer {
  int sender;
  int receiver;
  Extents shape;
  std::vector<IndexRun> runs;  ///< runs of all tensor dims
  int contribution = 0;
};

/// Returns the transfer of one of `blocks`.
BlockTransfer transfer_of(int sender, int receiver, const Blocks& blocks, const Block& block);

/// Describes the first block that only its sender or only its receiver knows; returns "" if both
/// know the same blocks.
std::string transfer_mistake(std::vector<BlockTransfer> sent, std::vector<BlockTransfer> received);

}  // namespace tessera::detail
