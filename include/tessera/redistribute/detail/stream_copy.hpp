// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tessera::detail {

/// Copies bytes that do not overlap past the caches: whole cache lines are written to memory without
/// being read first. On machines without such stores, memcpy. end_streaming() must follow before
/// others may read.
inline void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
#if defined(__SSE2__)
  constexpr std::int64_t line = 64;
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  const auto head = static_cast<std::int64_t>((line - address % line) % line);
  if (bytes < head + line) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  std::memcpy(to, from, static_cast<std::size_t>(head));
  auto* out = to + head;
  const auto* in = from + head;
  for (auto lines = (bytes - head) / line; lines > 0; --lines, out += line, in += line)
    for (int part = 0; part < 4; ++part)
      _mm_stream_si128(reinterpret_cast<__m128i*>(out) + part,
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in) + part));
  std::memcpy(out, in, static_cast<std::size_t>(to + bytes - out));
#else
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
#endif
}

/// Orders what was streamed before what this thread writes later.
inline void end_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace tessera::detail
