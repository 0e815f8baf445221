// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tessera/tessera.hpp>

namespace tessera::perf {

/// A Case is one tensor of doubles that goes from one placement to another on a mesh of one dim.
struct Case {
  Placement source;
  Placement target;
  Extents shape;

  /// Returns the name of the case, for example "S0->S1/4096x4096".
  std::string name() const;
  std::int64_t bytes() const { return product(shape) * std::int64_t{sizeof(double)}; }
};

/// Returns every transition with tensors of 4 KiB to 512 MiB, among them uneven and 3-d tensors.
std::vector<Case> all_cases();
/// Returns the same transitions with tensors so small that they take no time.
std::vector<Case> brief_cases();

/// Describes what each rank holds of a tensor before and after a redistribution.
struct Geometry {
  int rank = 0;
  Extents shape;
  std::vector<Piece> source_pieces;  ///< piece of each rank before
  std::vector<Piece> target_pieces;  ///< piece of each rank after
  std::vector<Box> source;           ///< the same as boxes; empty if they are none
  std::vector<Box> target;
  bool is_reduction = false;
  int divisor = 1;  ///< number by which a reduction divides the sum

  int ranks() const { return static_cast<int>(source_pieces.size()); }
  /// Returns whether all pieces are boxes, which the hand-written variants expect.
  bool has_boxes() const { return !source.empty() && !target.empty(); }
  std::size_t self() const { return static_cast<std::size_t>(rank); }
  std::int64_t source_size() const { return source_pieces[self()].size(); }
  std::int64_t target_size() const { return target_pieces[self()].size(); }
  /// Returns whether every pair of ranks exchanges the same number of elements.
  bool is_even() const;
};

Geometry geometry_of(const Case& test_case, int rank, int ranks);

/// Returns how many bytes of memory all ranks together need at most to measure the case: the
/// tensors, the buffers of the hand-written variants, and the buffers that MPI makes.
std::int64_t memory_needed(const Case& test_case, int ranks);

}  // namespace tessera::perf
