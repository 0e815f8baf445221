// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of file access: how a block is divided into collective calls.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Least number of bytes that a run of a file counts, when a block is divided into rounds.
///
/// MPI-IO keeps a list of runs in memory, which many short runs make long. A larger value bounds
/// that memory more tightly and needs more collective rounds. Together with `default_io_limit`
/// (comm/tuning.hpp) it allows 2^20 runs in a round. Not measured on its own; judgement. Shown by:
/// no row. A benchmark that reads a column block of a large .npy file would show it.
inline constexpr std::int64_t run_weight = 1024;

}  // namespace tessera::detail
