// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of the public calls: what a mesh keeps between calls, and
// what calibrate() measures.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// Number of plans that are kept with a mesh, equal on all ranks.
///
/// The oldest plan is forgotten first. More plans take more memory (160 bytes for each block of a
/// rank); a program that cycles through more transitions makes each plan anew. Not measured on its
/// own; judgement. Shown by: perf_overhead, rows plan_lookup (0.08 to 0.10 µs for a plan that is
/// kept) and make_plan_on_64x64_ranks (0.14 ms for one that is not).
inline constexpr std::size_t largest_cache = 256;

/// Largest number of blocks of a plan for which its prepared copies and lists are kept.
///
/// Keeping them spares a third of the instructions of a call with small tensors. With more blocks,
/// messages take the time, and the lists take memory. The threshold was not measured; judgement.
/// Shown by: perf_overhead, row redistribute_with_cached_plan, and perf_redistribute, rows */64x64,
/// for plans below it; a run on more than 32 ranks would show the threshold.
inline constexpr std::size_t most_kept_blocks = 64;

/// Limits the memory of results that a mesh gives out again, bytes, until set_recycling() is
/// called.
///
/// Fresh memory costs more than the kernels that fill it; memory that is kept is not available to
/// the user. Not measured on its own; judgement. Shown by: perf_redistribute, column alloc/into,
/// rows S0->R/4096x4096 (results of 128 MiB, recycled) and S0->R/8192x8192 (512 MiB, the largest
/// results that are recycled).
inline constexpr std::int64_t default_recycling_limit = std::int64_t{512} << 20;

/// Sizes and numbers of what calibrate() measures.
///
/// All of them trade the time of the call, less than a second, against the spread of its results.
/// No benchmark calls calibrate(); the seconds that RedistributePlan::explain() predicts after it,
/// beside perf_redistribute, would show how good it is.
namespace calibration {

/// Number of repetitions of which the fastest one counts.
///
/// More repetitions hide more of what else the machine does. Not measured on its own; judgement.
/// Shown by: no row.
inline constexpr int repetitions = 5;

/// Says how often the exchange of single elements on a node is repeated.
///
/// One exchange takes microseconds, so that many repetitions cost little. Not measured on its own;
/// judgement. Shown by: no row.
inline constexpr int tiny_repetitions = 4 * repetitions;

/// Number of messages of 8 bytes between nodes that are under way together.
///
/// Many messages show the cost of each message apart from the latency of a single one, which is
/// what a plan with many peers has. Not measured on its own; judgement. Shown by: no row;
/// S0->S1/64x64 on several nodes with many ranks would be the case.
inline constexpr std::size_t tiny_messages = 64;

/// Number of long messages between nodes that are under way together.
///
/// There are enough of them to fill the network, as all ranks of a node receive at once. Not
/// measured on its own; judgement. Shown by: no row.
inline constexpr std::size_t large_messages = 8;

/// Gives the length of the long messages between nodes, bytes.
///
/// When it was chosen it was the longest message of a plan, which has had 1 MiB since
/// (plan/tuning.hpp). Not measured on its own; judgement. Shown by: no row.
inline constexpr std::int64_t large_bytes = 512 << 10;

/// Number of rows of the shard of doubles that a rank moves and reduces on its node.
///
/// With `columns` a shard has 4 MiB, which is more than a second-level cache and less than common
/// third-level caches. Not measured on its own; judgement. Shown by: no row; S0->S1/1024x2048 on 4
/// ranks moves shards of this size.
inline constexpr std::int64_t rows = 256;

/// Gives the number of columns of the shard of `rows` rows.
///
/// Not measured on its own; judgement. Shown by: no row, as for `rows`.
inline constexpr std::int64_t columns = 2048;

}  // namespace calibration
}  // namespace tessera::detail
