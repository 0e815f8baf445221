// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of tensors: where huge pages begin to pay, and chunks of
// random numbers. Another one, `serial_bytes`, is in <tessera/tensor/detail/launch.hpp>: templates
// that users' code compiles ask is_for_threads() before every kernel on the host, and a call to a
// source file would make it slower.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
// Machine A is that of perf/README.md.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Least size of a result for which the system is asked for huge pages, bytes.
///
/// Memory of two huge pages contains a whole one wherever it begins; shorter memory may not. Huge
/// pages make the first touch twice as fast and the kernel's copies three times as fast. That was
/// measured on machine A: S0->S1 4096² with all ranks remote takes 9.5 ms with huge pages and 24 ms
/// without them. The threshold was not measured; judgement. Shown by: perf_redistribute, column
/// alloc, row S0->S1/1024x2048 (shards of 8 MiB).
inline constexpr std::int64_t least_huge_bytes = std::int64_t{4} << 20;

/// Number of elements that one index of the random number kernel fills on the host.
///
/// Longer chunks amortise the division that finds the first element; shorter chunks share small
/// tensors evenly among threads. Not measured on its own; judgement. Shown by: no row;
/// perf_overhead has no row of rand().
inline constexpr std::int64_t random_host_chunk = 1024;

}  // namespace tessera::detail
