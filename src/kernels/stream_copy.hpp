// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// Copies bytes that do not overlap past the caches: whole cache lines are written to memory
/// without being read first. On machines without such stores, memcpy. end_streaming() must follow
/// before others may read.
///
/// `ahead`: what is read next lies so many bytes behind `from`, and is fetched meanwhile;
/// processors fetch ahead by themselves only within a page. It need not exist.
void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes, std::int64_t ahead);

/// Orders what was streamed before what this thread writes later.
void end_streaming();

}  // namespace tessera::detail
