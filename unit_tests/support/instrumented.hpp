// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::test {

/// Is true if the program is built with a sanitizer or to count lines: then times and the memory of
/// the process mean nothing.
#if defined(TESSERA_INSTRUMENTED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_instrumented = true;
#elif defined(__has_feature)
inline constexpr bool is_instrumented =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_instrumented = false;
#endif

}  // namespace tessera::test
