// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of the kernels: blocks, prefetching and non-temporal stores
// of copies, tiles of reductions, and how work is divided among threads and device kernels.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
// Machines A to F are those of perf/README.md, each with 2 cores and one thread per rank. All
// tensors of perf_redistribute are row-major, so that none of its rows makes a transposing copy or
// sums operands in another memory order than that of the result.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Size that the kernels assume a cache line to have, bytes.
///
/// It is a property of the processors on which the library was measured (x86-64), not tuned.
/// Processors with lines of 128 or 256 bytes would write and fetch parts of lines with this value.
/// Shown by: perf_redistribute, row S0->S2/256x256x256, on a processor with longer lines.
inline constexpr std::int64_t cache_line = 64;

// Copies on the host.

/// Size that one item of a copy should have, bytes: an item takes as many rows of a 2-D copy as
/// fit, at least one.
///
/// Larger items need fewer divisions to find their first element; smaller items share a copy evenly
/// among threads. Not measured on its own; judgement. Shown by: no row. In perf_redistribute a row
/// of a 2-D copy has 128 KiB and more; a row S0->S2 of a tensor with short inner dims would show
/// it.
inline constexpr std::int64_t bytes_per_item = 16 * 1024;

/// Number of tasks for each thread into which a large copy is divided.
///
/// More tasks balance the work of threads; each task costs one step of the dynamic schedule. Not
/// measured on its own; judgement. Shown by: perf_redistribute, row S0->S1/4096x4096 with several
/// threads per rank; no recorded run has several.
inline constexpr std::int64_t tasks_per_thread = 4;

/// Number of rows that a tile of a transposing copy has.
///
/// A tall tile reads the source in few long streams. Each of its rows may lie in another page of
/// the destination, and all of these pages are written again for the next column of blocks, so that
/// very tall tiles exceed what the processor keeps of the page table. Not measured on its own;
/// judgement. Shown by: no row; S0->S1/4096x4096 from LayoutLeft to LayoutRight would show it.
inline constexpr std::int64_t tile_rows = 256;

/// Least number of rows and columns that a block of a transposing copy has, elements.
///
/// A block has as many elements on an edge as fill a cache line, but at least this number, so that
/// long elements are copied in blocks, too. It must be at most 8: the buffer of a block has
/// cache_line² bytes, and elements have up to cache_line bytes. Not measured on its own; judgement.
/// Shown by: no row, as for `tile_rows`, with complex<double>.
inline constexpr std::int64_t least_block_edge = 4;

/// Least length of a contiguous run that is written by non-temporal stores on its own, bytes.
///
/// The beginning and the end of a run are rarely whole cache lines and are written as usual; they
/// are most of a short run. Not measured on its own; judgement. Shown by: perf_redistribute, row
/// S0->S2/256x256x256 on 8 ranks (runs of 256 bytes) and 16 ranks (128 bytes); on 2 ranks runs have
/// 1 KiB.
inline constexpr std::int64_t least_non_temporal_run = 4 * cache_line;

/// Size of the buffer in which shorter runs are gathered before non-temporal stores, bytes.
///
/// A longer buffer writes longer streams; a shorter one leaves more of the first-level cache to the
/// source. Not measured on its own; judgement. Shown by: perf_redistribute, row S0->S2/256x256x256
/// on 16 ranks; no recorded run has as many.
inline constexpr std::int64_t gathered_bytes = 4096;

/// Least length of a run of the source that is prefetched, bytes.
///
/// A prefetch costs an instruction for each cache line, which shorter runs do not pay back. Not
/// measured on its own; judgement. Shown by: perf_redistribute, row S0->S2/256x256x256 on 16 ranks
/// (runs of 128 bytes, prefetched) and 32 ranks (64 bytes, not prefetched).
inline constexpr std::int64_t least_prefetched_run = 2 * cache_line;

/// Greatest length of a run of the source that is prefetched as a whole, bytes.
///
/// The processor recognises longer runs itself, and further prefetches cost time. Measured twice on
/// machine A: when runs of 4 KiB were no longer prefetched, S0->S1 on 4 and 8 ranks took a tenth
/// less; when runs of 2 KiB were no longer prefetched either, S0->S1 512² with all ranks remote
/// took a tenth less. Shown by: perf_redistribute, rows S0->S1/512x512 with all ranks remote (runs
/// of 2 KiB), S0->S1/4096x4096 on 8 ranks (4 KiB) and S0->S2/256x256x256 (1 KiB, prefetched).
inline constexpr std::int64_t most_prefetched_run = 1024;

/// Least size of a copy whose runs are prefetched, bytes.
///
/// Smaller copies mostly lie in a cache, and prefetches would only add instructions. The value came
/// together with plans that keep their loops; both together need a third fewer instructions for
/// small tensors. Not measured on its own; judgement. Shown by: perf_redistribute, rows
/// S0->S1/64x64 (copies of 8 KiB) and S0->S1/128x256 (64 KiB).
inline constexpr std::int64_t least_prefetched_bytes = 64 * 1024;

/// Distance at which runs of the source are prefetched, bytes.
///
/// It must cover the latency of memory; data that is fetched too early leaves the first-level cache
/// before it is read. Not measured on its own; judgement. Shown by: perf_redistribute, rows
/// S0->S2/256x256x256 and S1->S2/256x256x256 (runs of 1 KiB).
inline constexpr std::int64_t prefetch_distance = 4096;

/// Distance at which the source is prefetched within a run longer than a page, bytes.
///
/// It serves copies with non-temporal stores. Processors prefetch within a page only, so that each
/// new page would begin with a miss. It was measured with other changes on machine B, all ranks
/// remote: the time of 512², in units of the best hand-written variant, went from the range 1.14 to
/// 1.42 to the range 0.82 to 1.25. Shown by: perf_redistribute, all ranks remote, rows
/// S0->S1/1024x2048 and S0->R/1024x2048.
inline constexpr std::int64_t within_run = 1024;

/// Size of the part of a row that is converted or scaled at once, bytes of the destination.
///
/// The source of a part is prefetched while the part before is changed, and a part that is written
/// by non-temporal stores lies in a buffer of this size. Shorter parts cost more calls; longer ones
/// leave less of the first-level cache to what is fetched. Measured on machine F with 2 ranks, as
/// ratio to the plain move: parts of 4 KiB 0.96 (to float), 1.28 (alpha), 2.0 (alpha and beta);
/// parts of 1 KiB 0.83, 1.08, 1.5; 512 bytes the same. Shown by: perf_movement, rows
/// float64->float32, alpha and alpha_beta.
inline constexpr std::int64_t changed_part_bytes = 1024;

// Copies on a device.

/// Number of copies that one kernel on a device makes.
///
/// More copies need fewer launches; each copy adds 400 bytes to the arguments of the kernel, and
/// CUDA's fastest way to pass arguments ends at 4 KiB. Each thread searches for its copy among
/// them. Not measured on its own; judgement. Shown by: perf_device, row S0->S1 on 8 and more ranks;
/// it ran on 2 ranks, each of which has one copy per kernel.
inline constexpr int copies_per_kernel = 8;

// Reductions on the host.

/// Size that one tile has in the deepest reduction tree, bytes.
///
/// The partial results of a tree, one tile for each level, shall stay in the first-level cache: at
/// most 33 tiles of 1 KiB. Longer tiles need fewer steps through the tree and longer vector loops.
/// Not measured on its own; judgement. Shown by: perf_redistribute, rows P->S0/128x256 and
/// P->S0/4096x4096; trees of more than 2 levels need more ranks.
inline constexpr std::int64_t reduce_tile_bytes = 1024;

/// Largest number of tiles that are joined to one where a tree has few levels.
///
/// Up to 4 KiB of each operand then take one step through the tree. Before, all tiles had 1 KiB.
/// Not measured on its own; judgement. Shown by: perf_redistribute, rows P->S0/128x256 and
/// P->S0/4096x4096 on 2 ranks, which use 4.
inline constexpr std::int64_t most_reduce_tile_units = 4;

/// Size of the scratch memory into which operands in another memory order than the result are
/// transposed, bytes.
///
/// A reduction goes slab by slab, so that the transposed operands are read from the second-level
/// cache. A larger value makes fewer and thicker slabs. Not measured on its own; judgement. Shown
/// by: no row; P->S0/4096x4096 from LayoutLeft to LayoutRight would show it.
inline constexpr std::int64_t scratch_bytes = 1024 * 1024;

/// Least thickness that a slab has along the outermost dim of the result, elements.
///
/// The operands are contiguous along that dim, so that a thin slab reads parts of their cache lines
/// only: 16 doubles are two lines. The transposed operands may then exceed `scratch_bytes`. Not
/// measured on its own; judgement. Shown by: no row, as for `scratch_bytes`, with 8192x8192.
inline constexpr std::int64_t least_thickness = 16;

// Reductions on a device.

/// Number of operands that one kernel on a device combines: a power of two, so that each group of
/// operands is a subtree of the fixed reduction tree.
///
/// More operands need fewer kernels and less scratch; each thread keeps all of their values in
/// registers. Measured on an H200: with 8 operands the kernel reads and writes as fast as a bare
/// copy, so that fewer would gain nothing; with 2 operands it runs at 0.6 times that speed. Two
/// elements per thread instead of one gained only 6 to 8 % there. Shown by: perf_device, rows
/// reduce/2, reduce/4 and reduce/8.
inline constexpr int operands_per_kernel = 8;

// Elementwise kernels.

/// Number of elements that one index of an elementwise kernel changes on the host.
///
/// Longer chunks amortise the division that finds the first element; shorter chunks share small
/// tensors evenly among threads. Not measured on its own; judgement. Shown by: no row; a row R->P,
/// which fills shards with the identity of the operation, would show it.
inline constexpr std::int64_t elementwise_host_chunk = 4096;

}  // namespace tessera::detail
