// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace tessera::detail {

/// How often a failing call has left messages under way, because a peer had not come when their
/// time was over. MPI still reads and writes their memory when it comes.
inline std::uint64_t ever_left_open = 0;

/// Never frees it: MPI may still read or write it.
void keep_for_ever(const std::shared_ptr<void>& memory);

}  // namespace tessera::detail
