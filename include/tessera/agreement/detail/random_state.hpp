// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tessera::detail {

/// What the ranks of a group know alike of their random numbers without a seed.
struct RandomState {
  std::uint64_t seed = 0;   ///< that of manual_seed()
  std::uint64_t draws = 0;  ///< tensors drawn since
  bool is_sure = true;      ///< no call has failed since the ranks compared it
};

}  // namespace tessera::detail
