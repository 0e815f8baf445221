// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block.hpp"
#include "variant.hpp"
#include "waits.hpp"

namespace tessera::perf {

/// Describes what a rank sends to each rank and receives from each rank, itself included.
struct Blocks {
  int rank = 0;
  std::vector<Block> outgoing;  ///< block of the source for each rank
  std::vector<Block> incoming;  ///< block of the target for each rank

  int ranks() const { return static_cast<int>(outgoing.size()); }
  std::size_t self() const { return static_cast<std::size_t>(rank); }
  /// Returns the rank at `distance` after this one. Each rank begins with another peer, so that not
  /// all send to one rank first.
  int next(int distance) const { return (rank + distance) % ranks(); }
  int previous(int distance) const { return (rank + ranks() - distance) % ranks(); }
};

Blocks blocks(const Geometry& geometry, double* source, double* target);

/// Holds the arguments of MPI's v-collectives, in elements.
struct Counts {
  std::vector<int> counts;
  std::vector<int> positions;
};

/// Returns counts and positions of blocks that are packed one after another.
Counts packed_counts(const std::vector<Block>& blocks);
/// Returns counts and positions of blocks that stay in place in the array at `data`.
Counts counts_in_place(const std::vector<Block>& blocks, const double* data);

bool are_contiguous(const std::vector<Block>& blocks);
std::int64_t total_size(const std::vector<Block>& blocks);

void pack_all(const std::vector<Block>& blocks, double* to);
void unpack_all(const double* from, const std::vector<Block>& blocks);

/// Returns an exchange by MPI_Isend and MPI_Irecv: blocks that are not contiguous are packed, this
/// rank's own block is copied directly while the messages travel, and messages are unpacked in the
/// order of arrival.
std::function<void()> isend_irecv(Workspace& workspace, const Blocks& blocks, Waits waits);
/// Returns an exchange by MPI_Isend and MPI_Irecv that uses subarray types instead of packing.
std::function<void()> isend_irecv_types(Workspace& workspace, const Blocks& blocks, Waits waits);
/// Returns an exchange by MPI_Alltoallw with subarray types.
std::function<void()> alltoallw(Workspace& workspace, const Blocks& blocks, Waits waits);

/// Returns the hand-written variant that `make(workspace, blocks, waits)` makes. If its waits
/// yield, it is not of the kind `collective`.
template <class Make>
Variant rival(const std::string& name, Kind kind, const Geometry& geometry, Waits waits,
              const Make& make) {
  return variant(name + suffix(waits), waits == Waits::spinning ? kind : Kind::direct,
                 [=](Workspace& workspace) {
                   const auto mine = blocks(geometry, workspace.source, workspace.target);
                   return std::function<void()>(make(workspace, mine, waits));
                 });
}

/// Collects hand-written variants, each once for every way to wait.
class Rivals {
 public:
  explicit Rivals(const Geometry& geometry) : geometry_(geometry) {}

  template <class Make>
  void add(const std::string& name, Kind kind, const Make& make) {
    for (const auto waits : ways_to_wait(geometry_.ranks()))
      variants_.push_back(rival(name, kind, geometry_, waits, make));
  }
  const std::vector<Variant>& variants() const { return variants_; }

 private:
  Geometry geometry_;
  std::vector<Variant> variants_;
};

}  // namespace tessera::perf
