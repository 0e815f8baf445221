// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tessera/tessera.hpp>

namespace tessera::perf {

/// One tensor of doubles that goes from one placement to another on a mesh of one dim.
struct Case {
  Placement source;
  Placement target;
  Extents shape;

  /// "S0->S1/4096x4096".
  std::string name() const;
  std::int64_t bytes() const { return product(shape) * std::int64_t{sizeof(double)}; }
};

/// Every transition from 4 KiB to 512 MiB, with uneven and 3-d tensors among them.
std::vector<Case> all_cases();
/// The same transitions with tensors that take no time.
std::vector<Case> brief_cases();

/// Which box of a tensor each rank holds before and after.
struct Geometry {
  int rank = 0;
  Extents shape;
  std::vector<Box> source;  ///< by rank
  std::vector<Box> target;  ///< by rank
  bool is_reduction = false;

  int ranks() const { return static_cast<int>(source.size()); }
  std::size_t self() const { return static_cast<std::size_t>(rank); }
  std::int64_t source_size() const { return source[self()].size(); }
  std::int64_t target_size() const { return target[self()].size(); }
  /// Every pair of ranks exchanges as many elements as every other one.
  bool is_even() const;
};

Geometry geometry_of(const Case& test_case, int rank, int ranks);

/// Bytes of all ranks together that measuring the case takes at most: the tensors, the buffers of
/// the rivals and those that MPI makes.
std::int64_t memory_needed(const Case& test_case, int ranks);

}  // namespace tessera::perf
