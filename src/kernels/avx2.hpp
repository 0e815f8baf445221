// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks a function that is compiled for AVX2, whatever the other functions are compiled for. Call
// it only where `has_avx2` is true.
#if defined(__x86_64__)
#define TESSERA_FOR_AVX2 [[gnu::target("avx2")]]
#else
#define TESSERA_FOR_AVX2
#endif

// Marks a function that is always inlined, so that it is compiled for the same target as its
// caller.
#define TESSERA_INLINED [[gnu::always_inline]]

namespace tessera::detail {

#if defined(__x86_64__)
inline const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
#else
inline constexpr bool has_avx2 = false;
#endif

}  // namespace tessera::detail
