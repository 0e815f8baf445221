// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tessera/extents/box.hpp>

namespace tessera::detail {

/// Describes the transfer of one block, as its sender or its receiver sees it.
struct BlockTransfer {
  int sender;
  int receiver;
  Box box;
  int contribution = 0;
};

/// Describes the first block that only its sender or only its receiver knows; returns "" if both
/// know the same blocks.
std::string transfer_mistake(std::vector<BlockTransfer> sent, std::vector<BlockTransfer> received);

}  // namespace tessera::detail
