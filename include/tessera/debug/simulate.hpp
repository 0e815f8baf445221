// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/plan/plan.hpp>

namespace tessera {

/// A Simulation holds what simulate() counted, and whether the result was right.
struct Simulation {
  std::int64_t messages = 0;  ///< blocks between different ranks
  std::int64_t bytes = 0;     ///< total of these blocks
  std::int64_t elements_checked = 0;
  int exchanges = 0;
  std::vector<std::int64_t> bytes_received = {};  ///< indexed by position in ranks(), the mesh rank
  std::int64_t peak_bytes = 0;  ///< source, target and data between steps, on the largest rank
  std::string mistake = {};     ///< describes the first one; empty if the result is right

  bool is_right() const { return mistake.empty(); }
};

/// Runs a plan on all its ranks in this process, without MPI and Kokkos, and compares what each
/// rank then holds with what the target spec says.
///
/// Elements are 64-bit integers whatever the element type: the global index or, if the source is
/// Partial, contributions that reduce to it. It is also a mistake if a block is sent but not
/// received in the same way, or received but not sent. Errors: InvalidArgument for more than 2^26
/// elements that ranks hold and combine, or 2^20 messages.
Simulation simulate(const RedistributePlan& plan);

}  // namespace tessera
