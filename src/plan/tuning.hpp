// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of planning: sizes and numbers of messages, and what the
// planner compares.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
// Machines A to F are those of perf/README.md. The numbers of docs/scale.md come from the test
// plan.scale, which makes the plans of large machines in one process.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Largest length of a message, bytes, where the memory limit allows it.
///
/// Short messages overlap packing, sending and unpacking and stay in the caches; long messages cost
/// less per byte. Measured with all ranks remote: S0->S1 4096² on machine A was fastest with 512
/// KiB among 64 KiB to 32 MiB (128 and 256 KiB took as long). P->S0 4096² on machine C took 0.97 of
/// the best hand-written variant with 512 KiB and 0.90 to 0.94 with 1 MiB, which gave this value;
/// since then the engine has limited messages with operands of sums to 256 KiB. Shown by:
/// perf_redistribute, all ranks remote, rows S0->S1/4096x4096 and S0->R/1024x2048.
inline constexpr std::int64_t most_message_bytes = 1 << 20;

/// Least number of messages that a rank sends, and receives, concurrently.
///
/// Two messages let a rank pack one while the other one travels; more messages take more memory. Of
/// 2 to 8 messages of 512 KiB to one peer, 4 were best on machine A. They were replaced by 2
/// together with other changes, which kept buffers in the second-level cache (machine B, 512²); 2
/// was not measured on its own. A rank counts as its own peer, so that the value decides only where
/// a plan has one peer in all. Shown by: no row; a row to another mesh with the same number of
/// ranks would show it.
inline constexpr int fewest_at_once = 2;

/// Largest number of messages that a rank sends, and receives, concurrently.
///
/// More messages hide more latency; each needs a buffer and lengthens MPI's queues. Half of the
/// number is the largest group of reduction operands that is received together. With 64,
/// docs/scale.md counts 64 messages and 25 partial results on 10⁵ ranks. Not measured on its own;
/// judgement. Shown by: perf_redistribute, S0->S1/8192x8192 and P->S0/8192x8192 with more than 64
/// ranks; no recorded run has that many.
inline constexpr int most_at_once = 64;

/// Gives the memory for messages on a rank, bytes, if the options name none; a part of the largest
/// shard is added.
///
/// More memory lets more and longer messages be under way. docs/scale.md: 64 MiB are enough for
/// chunks of 256 KiB on 10⁵ ranks. Not measured on its own; judgement. Shown by: no row on 2 ranks,
/// which need at most 5 MiB; perf_redistribute, P->S0/8192x8192 on 64 and more ranks, would show
/// it.
inline constexpr std::int64_t default_extra_memory = std::int64_t{64} << 20;

/// Divides the size of the largest shard; the quotient is added to `default_extra_memory`.
///
/// A smaller divisor lets large redistributions take more memory for messages and for the stages of
/// a path. The documentation of PlanOptions names the eighth. Not measured on its own;
/// judgement. Shown by: no row; the plans of docs/scale.md use it.
inline constexpr int extra_memory_share = 8;

/// Least number of peers for which the planner considers a path by one mesh dim after another.
///
/// These paths pay where messages are many; fewer peers spare the planner the comparison. Not
/// measured on its own; judgement. Shown by: perf_overhead, row make_plan_on_64x64_ranks (0.14 ms),
/// which considers one; docs/scale.md counts the messages that paths save.
inline constexpr int least_peers_for_stages = 64;

/// Largest part of the direct path's predicted time at which another path is taken.
///
/// A smaller value takes another path only for a clear gain; the cost model is not exact, and these
/// paths copy elements more often. It was 0.5 before there were paths by way of nodes. Not measured
/// on a machine; judgement. Shown by: docs/scale.md, row "pencils, y to z, 1024³" on 102,400 ranks,
/// where 0.77 of 0.99 ms is just enough.
inline constexpr double least_gain = 0.8;

/// Gives the cost of beginning a further transfer of a path, in messages of the cost model.
///
/// A rank waits for its peers before it goes on to the next transfer. A larger value prefers paths
/// of fewer transfers. Not measured on its own; judgement. Shown by: docs/scale.md, column
/// "predicted" of the chosen paths; perf_redistribute on several nodes would show whether it is
/// right.
inline constexpr double messages_per_transfer = 5;

/// Largest number of ranks of a mesh for which the planner looks at each rank to find the cost of a
/// transfer; on larger meshes it takes upper bounds.
///
/// Exact costs find cheaper paths of sums on small meshes, such as those of one node; they take
/// time in proportion to ranks and parts. On 8 ranks a cost takes about 1 µs. Not measured beyond;
/// judgement. Shown by: the test plan.ways, which compares all pairs of placements on 6 and 8 ranks
/// with the ways round; perf_overhead, row make_plan_on_64x64_ranks, which has more ranks.
inline constexpr int most_ranks_looked_at = 64;

/// Largest number of blocks that the planner looks at to estimate what one node receives.
///
/// The ranks of a node are sampled where they have more blocks; one rank is always counted. More
/// blocks make the estimate exact for uneven shards and planning slower. Not measured on its own;
/// judgement. Shown by: docs/scale.md, columns "planning" of the chosen paths (gather of 1 KiB on
/// 102,400 ranks: 343 ms); perf_overhead has no row of a mesh on several nodes.
inline constexpr std::int64_t most_blocks = 4096;

/// Largest number of ranks for which RedistributePlan::explain() counts what each rank receives.
///
/// The count makes the steps of all ranks, so that its time grows with their number. The
/// documentation names the limit. Not measured on its own; judgement. Shown by: no row; explain()
/// of a plan on 4,096 ranks would show it.
inline constexpr int most_ranks_counted = 4096;

}  // namespace tessera::detail
