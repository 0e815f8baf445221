// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::detail {

/// A set of processes on which collective calls are made, over whichever communicator and mesh.
///
/// Counting the outermost calls of a set and of all sets around it gives each call a number that
/// its ranks agree on without a word, however far each has come in the calls inside earlier ones.
struct ProcessSet {
  std::vector<int> processes;             ///< sorted
  std::uint64_t closed = 0;               ///< outermost calls on it that are over
  std::uint64_t generation = 1;           ///< 1 + `closed` of it and of all sets around it
  std::vector<ProcessSet*> subsets = {};  ///< proper ones
  std::uint64_t forgotten = 0;            ///< calls with numbers up to this may not be recorded

  /// An outermost call is over.
  void close() {
    ++closed;
    ++generation;
    for (auto* subset : subsets) ++subset->generation;
  }
  /// `other` is equal or a subset.
  bool contains(const ProcessSet& other) const;
};

/// The one of these processes, made at first use and kept until the program ends.
ProcessSet& process_set(std::vector<int> processes);

}  // namespace tessera::detail
