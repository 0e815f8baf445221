// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tessera::detail {

/// What the ranks of a group know alike of their random numbers without a seed.
struct RandomState {
  std::uint64_t seed = 0;         ///< that of manual_seed()
  std::uint64_t draws = 0;        ///< tensors drawn since
  std::uint64_t compared_at = 0;  ///< `doubts` when the ranks compared it last
};

/// Counts what may have left ranks with different numbers of draws, on whichever mesh: calls that
/// failed, and changes of what is compared.
inline std::uint64_t doubts = 0;

}  // namespace tessera::detail
