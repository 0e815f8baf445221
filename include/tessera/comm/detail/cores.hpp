// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <limits>

namespace tessera::detail {

/// Cores of this machine for each rank of the fullest communicator so far.
inline std::atomic<int> cores_per_rank{std::numeric_limits<int>::max()};

}  // namespace tessera::detail
