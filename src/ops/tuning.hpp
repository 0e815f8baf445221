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

/// Number of neighbouring lines that running sums over an outer dim take together on the host: rows of
/// elements are read one after another, while the sums stay in the cache.
///
/// Measured on 2 ranks with 4096² doubles: with 512, 1.48 of plain loops, with 4096 0.83 to 0.91. Shown by:
/// perf_ops, row cumsum_rows.
inline constexpr int summed_lines = 4096;

/// Largest number of elements of lines that the host takes together even if their elements are nearer
/// than neighbouring lines: to find each line takes longer than to add up so few. Not measured;
/// judgement. Shown by: perf_ops, row cumsum_columns.
inline constexpr std::int64_t short_line = 32;

/// Least number of elements that a thread of a device adds up for a running sum, so that the sums of
/// chunks take at most a sixteenth of the operand. Not measured; judgement. Shown by: perf_ops, row
/// cumsum_columns, on a device.
inline constexpr std::int64_t least_device_chunk = 16;

/// Number of rows of a product that one item of the host's kernel computes. Where the build has
/// a BLAS, the kernel computes products of integers and of 16-bit and long numbers only. Not measured on
/// its own; judgement: the sums of a tile fit into the registers of AVX2. Shown by: perf_ops, row
/// matmul_int64.
inline constexpr int host_tile_rows = 4;
/// Says how many columns such a tile has. Not measured on its own; judgement. Shown by: perf_ops, row
/// matmul_int64.
inline constexpr int host_tile_columns = 8;

/// Number of rows, and of columns, of a product that one thread of a device computes. Not measured;
/// judgement: 8 reads for 16 products. Shown by: perf_ops, row matmul, on a device.
inline constexpr int device_tile = 4;

/// Number of columns of the left operand, and of rows of the right one, that a panel of SUMMA has.
///
/// While one panel is multiplied, the next one is under way. Not measured; judgement: a product of 256
/// columns runs at the full speed of a BLAS, and two pairs of panels take little memory beside the matrices.
/// Shown by: perf_ops, row summa.
inline constexpr std::int64_t panel_width = 256;

/// Number of parts in which a panel of SUMMA is multiplied: between them the next panel goes on. Not
/// measured; judgement. Shown by: perf_ops, row summa.
inline constexpr std::int64_t parts_of_panel = 4;

}  // namespace tessera::detail
