// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions that are compiled for AVX2 whatever the rest is compiled for; to be called where the
// processor has it.
#if defined(__x86_64__)
#define TESSERA_FOR_AVX2 [[gnu::target("avx2")]]
#else
#define TESSERA_FOR_AVX2
#endif

// Functions whose code is compiled as that of those that call them.
#define TESSERA_INLINED [[gnu::always_inline]]

namespace tessera::detail {

#if defined(__x86_64__)
inline const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
#else
inline constexpr bool has_avx2 = false;
#endif

}  // namespace tessera::detail
