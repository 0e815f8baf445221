// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of debugging tools: how large a plan simulate() accepts, and
// how much of a plan's traffic plan_svg() asks for and shows.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Largest number of elements that simulate() accepts: those of all ranks' shards and operands.
///
/// An element takes at most 8 bytes, and all elements lie in one process, so that the limit is 512
/// MiB. Larger plans throw InvalidArgument; the program `tessera simulate` is meant for small
/// tensors. Not measured on its own; judgement. Shown by: no row; the tests of simulate() assert
/// the number.
inline constexpr double most_elements = 1 << 26;

/// Largest number of messages that simulate() accepts.
///
/// A message is listed by its sender and by its receiver in 160 bytes each, so that the limit is
/// about 320 MiB, and both lists are sorted. Not measured on its own; judgement. Shown by: no row;
/// the tests of simulate() assert the number.
inline constexpr double most_messages = 1 << 20;

/// Largest number of transfers that plan_svg() looks at to sum up what ranks send to one another.
///
/// If all ranks together have more transfers, some ranks of each block of ranks, at least one,
/// stand for the others, and the picture says that it is an estimate. A larger number makes the
/// pictures of more ranks exact, and slower. Not measured on its own; judgement. Shown by: no row;
/// a test asserts that two pictures of plans on 100,000 ranks take less than 20 s.
inline constexpr std::int64_t most_traffic_work = 1 << 18;

/// Largest number of ranks that each have a row and a column of their own in the traffic matrix.
///
/// More ranks are drawn in blocks; the file grows with the square of the number. Not measured on
/// its own; judgement. Shown by: no row; a test asserts the number.
inline constexpr int most_single_ranks = 64;

/// Number of blocks that are drawn for more than `most_single_ranks` and up to `many_ranks` ranks.
///
/// More blocks show more of the pattern, in a larger file. Not measured on its own; judgement.
/// Shown by: no row.
inline constexpr int blocks_of_some_ranks = 32;

/// Number of blocks of ranks that are drawn for more than `many_ranks` ranks.
///
/// With fewer blocks, fewer ranks are asked for their steps, which take long to make on many ranks.
/// Not measured on its own; judgement. Shown by: no row; the test with 100,000 ranks asserts that
/// two pictures take less than 3 MiB.
inline constexpr int blocks_of_many_ranks = 10;

/// Number of ranks above which fewer blocks are drawn.
///
/// Not measured on its own; judgement. Shown by: no row.
inline constexpr int many_ranks = 8192;

}  // namespace tessera::detail
