// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tessera/extents/box.hpp>

namespace tessera::detail {

/// A block on its way, as its sender or its receiver sees it.
struct BlockTransfer {
  int sender;
  int receiver;
  Box box;
  int term = 0;
};

/// The first block that only one side knows, in words; "" if both know the same.
std::string transfer_mistake(std::vector<BlockTransfer> sent, std::vector<BlockTransfer> received);

}  // namespace tessera::detail
