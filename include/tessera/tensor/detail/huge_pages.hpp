// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// A huge page has this size, bytes.
inline constexpr std::int64_t huge_page_bytes = 2 << 20;

/// Asks the system for huge pages for fresh host memory. They make its first touch twice as fast,
/// and speed up messages that the kernel copies from it. Does nothing for less than
/// least_huge_bytes.
void ask_for_huge_pages(void* data, std::size_t bytes);

/// Asks the system for huge pages for memory that is kept for long and holds no data yet. An
/// allocator may return memory that was used before and has small pages. These pages are given back
/// to the system, so that huge pages take their place at the next touch. Only whole huge pages
/// within the memory are affected, not what lies beside it.
void renew_as_huge_pages(void* data, std::size_t bytes);

}  // namespace tessera::detail
