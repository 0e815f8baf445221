// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of the operators.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// Bytes that an exchange counts for where operators choose between placements.
///
/// It stands for the latency of an exchange: of two choices that move few bytes, the one with fewer
/// exchanges wins. It is no machine's latency, so that placements are the same everywhere. Not
/// measured; judgement. Shown by: unit_tests/ops/choose_test.
inline constexpr std::int64_t bytes_per_exchange = 4096;

/// Largest number of calls whose placements a mesh keeps. All are forgotten together when there are
/// more: a program has few different calls. Not measured; judgement. Shown by: perf_ops, row
/// add_choice.
inline constexpr std::size_t most_prepared_calls = 1024;

/// Says how many accumulators a sum over a row has. Independent ones let the compiler add vectors.
///
/// With 8, sums of doubles take half the time of a loop with one accumulator, measured by perf_ops.
/// Shown by: perf_ops, rows sum_all and sum_columns.
inline constexpr int accumulators = 8;

/// Number of results that a reduction over outer dims accumulates at a time: whole rows are read one after
/// another, while partial results stay in the cache.
///
/// Measured on 2 ranks with 4096² doubles: with 512, sums of rows take 1.6 of a plain loop, with 4096 1.05 to
/// 1.27. Shown by: perf_ops, row sum_rows.
inline constexpr std::int64_t accumulated_row = 4096;

/// Number of elements of a row that argmin and argmax look through at a time, without branches, for one that counts.
///
/// Measured on 2 ranks with 4096² doubles: without blocks argmax takes 1.9 to 2.0 of Kokkos' MaxLoc. Shown
/// by: perf_ops, row argmax_all.
inline constexpr std::int64_t arg_block = 512;

/// Number of results of argmin and argmax over outer dims that take a row of elements together: their values
/// and positions stay in the cache.
///
/// Measured on 2 ranks with 4096² doubles: 512 and 2048 alike, 2.2 to 2.7 of the time of max. Shown by:
/// perf_ops, row argmax_rows.
inline constexpr std::int64_t arg_row = 2048;

/// Least number of elements of a part, where a reduction to few results is shared by threads. Not
/// measured on its own; judgement. Shown by: perf_ops, row sum_all, with threads.
inline constexpr std::int64_t least_reduced_part = 16384;

/// Number of threads of a device among which a reduction is shared, where it has fewer results. Not
/// measured; judgement: several times the threads that run at once on one device. Shown by: perf_ops, row
/// sum_all, on a device.
inline constexpr std::int64_t most_device_parts = std::int64_t{1} << 17;

/// Number of elements that a thread of a device reads before it combines them. Not measured on its own;
/// judgement: 2^17 threads with one read of 8 bytes each are less than the memory of an H200 has under
/// way at its full speed. Shown by: perf_ops, row sum_all, on a device.
inline constexpr int reads_at_once = 4;

/// Number of parts of a result that one thread of a device combines at a time. Not measured; judgement:
/// three steps from the most parts to one result. Shown by: perf_ops, row sum_all, on a device.
inline constexpr std::int64_t parts_per_thread = 64;

}  // namespace tessera::detail
