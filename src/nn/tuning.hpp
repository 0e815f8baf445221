// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For perf_nn: the tuned constants of modules and attention.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// A tile of attention on the host has this number of queries: the scores of queries_at_once queries and
/// keys_at_once keys are computed by one product of matrices, and stay in the cache until they are used.
///
/// Measured with keys_at_once, both from 32 to 512, on (1, 4, 1024, 64) doubles with one thread, not causal, fastest
/// of 7 on a machine with other work: 64 by 128 takes 45 ms forward and 78 ms backward, 128 by 128 48 and 91, 256
/// by 256 47 and 85, 32 by 32 50 and 82. Shown by: perf_nn, row attention_local.
inline constexpr std::int64_t queries_at_once = 64;

/// A tile of attention on the host has this number of keys. Measured, see queries_at_once. Shown by: perf_nn, row
/// attention_local.
inline constexpr std::int64_t keys_at_once = 128;

/// A tile of attention has at most this number of queries, and of keys, where one kernel works on the tiles of all
/// batches and heads at the same time: on devices, and on the host without a BLAS.
///
/// Not measured; judgement: large products keep a device busy. Shown by: perf_nn on a device, row attention_local.
inline constexpr std::int64_t rows_at_once_of_all = 512;

/// The scores of such tiles are at most this number of elements, for all batches and heads together, as long as
/// tiles have more than `least_rows_at_once_of_all` rows: 64 MiB in double. The backward pass has two such arrays.
///
/// Not measured; judgement. Shown by: perf_nn on a device, row attention_local.
inline constexpr std::int64_t most_scores_of_all = std::int64_t{8} << 20;

/// Tiles of all batches and heads have no fewer queries and keys, if there are more. Not measured; judgement. Shown by:
/// perf_nn on a device, row attention_local.
inline constexpr std::int64_t least_rows_at_once_of_all = 64;

/// A rank computes with a block of keys in at most this number of parts: between them the next block goes on. With
/// many threads there are fewer parts, so that each part has work for all threads.
///
/// Not measured; judgement. Shown by: perf_nn, row attention_overlap.
inline constexpr std::int64_t parts_of_key_block = 4;

/// Number of rings of keys and values, with their plans, that a mesh keeps. All are forgotten together when there
/// are more: a program has few different calls. Not measured; judgement. Shown by: perf_nn, row
/// attention_ring.
inline constexpr std::size_t most_key_rings = 64;

}  // namespace tessera::detail
