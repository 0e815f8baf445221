// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// Copies bytes with non-temporal stores: whole cache lines are written to memory without being
/// read first. Source and destination must not overlap. On machines without such stores it is
/// memcpy. Call fence_non_temporal_stores() before other threads or ranks may read the result.
///
/// `ahead`: distance from what is copied to what is prefetched meanwhile, bytes; processors
/// prefetch by themselves only within a page. The memory there need not exist.
void non_temporal_copy(std::byte* to, const std::byte* from, std::int64_t bytes,
                       std::int64_t ahead);

/// Orders this thread's non-temporal stores before what it writes later.
void fence_non_temporal_stores();

}  // namespace tessera::detail
