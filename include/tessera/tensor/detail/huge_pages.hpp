// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::detail {

inline constexpr std::int64_t huge_page_bytes = 2 << 20;

/// Asks the system for huge pages for fresh host memory: its first touch is then twice as fast, and
/// so are messages that the kernel copies from it. Does nothing for small memory.
void ask_for_huge_pages(void* data, std::size_t bytes);

/// The same for memory that is kept for long and in which nothing is yet. An allocator may give what
/// it has used before, in small pages: they go back to the system, so that huge ones take their
/// place when they are touched. Neighbours are left alone.
void renew_as_huge_pages(void* data, std::size_t bytes);

}  // namespace tessera::detail
