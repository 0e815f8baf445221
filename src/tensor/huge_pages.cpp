// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <tessera/tensor/detail/huge_pages.hpp>

#include "tensor/tuning.hpp"

namespace tessera::detail {

#if defined(MADV_HUGEPAGE)
namespace {

/// Gives the system `advice` on the pages that lie in this memory as a whole. Returns whether the
/// system has taken it.
bool advise(void* data, std::size_t bytes, std::int64_t page_bytes, int advice) {
  const auto page = static_cast<std::uintptr_t>(page_bytes);
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  return begin < end && madvise(reinterpret_cast<void*>(begin), end - begin, advice) == 0;
}

}  // namespace

void ask_for_huge_pages(void* data, std::size_t bytes) {
  constexpr std::int64_t small_page_bytes = 4096;
  if (bytes >= least_huge_bytes) advise(data, bytes, small_page_bytes, MADV_HUGEPAGE);
}

void renew_as_huge_pages(void* data, std::size_t bytes) {
  if (advise(data, bytes, huge_page_bytes, MADV_HUGEPAGE))
    advise(data, bytes, huge_page_bytes, MADV_DONTNEED);
}

#else

void ask_for_huge_pages(void*, std::size_t) {}
void renew_as_huge_pages(void*, std::size_t) {}

#endif

}  // namespace tessera::detail
