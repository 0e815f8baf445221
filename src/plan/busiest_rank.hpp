// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/plan/detail/transfer.hpp>

namespace tessera::detail {

/// Holds what ranks receive and send in a transfer, each number that of the rank with most. What a
/// rank takes from itself does not count, except in `fetched`.
struct BusiestRank {
  std::int64_t received = 0;  ///< elements
  std::int64_t fetched = 0;   ///< elements, with those of the rank itself; operands of a reduction
  std::int64_t messages = 0;  ///< received or sent, whichever are more
};

/// Returns whether busiest_rank() is cheap: on one mesh of few ranks.
bool can_look_at_each_rank(const Transfer& transfer);

/// Looks at each rank. Expects can_look_at_each_rank().
BusiestRank busiest_rank(const Transfer& transfer);

}  // namespace tessera::detail
