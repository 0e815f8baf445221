// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block.hpp"
#include "variant.hpp"
#include "waits.hpp"

namespace tessera::perf {

/// What a rank sends to each rank and receives from each, itself included.
struct Blocks {
  int rank = 0;
  std::vector<Block> outgoing;  ///< by rank, in the source
  std::vector<Block> incoming;  ///< by rank, in the target

  int ranks() const { return static_cast<int>(outgoing.size()); }
  std::size_t self() const { return static_cast<std::size_t>(rank); }
  /// Rank `distance` after this one: not all begin with the same peer.
  int next(int distance) const { return (rank + distance) % ranks(); }
  int previous(int distance) const { return (rank + ranks() - distance) % ranks(); }
};

Blocks blocks(const Geometry& geometry, double* source, double* target);

/// What the v-collectives ask for, in elements.
struct Counts {
  std::vector<int> counts;
  std::vector<int> positions;
};

/// Blocks one after another.
Counts packed_counts(const std::vector<Block>& blocks);
/// Blocks where they are in the array at `data`.
Counts counts_in_place(const std::vector<Block>& blocks, const double* data);

bool are_contiguous(const std::vector<Block>& blocks);
std::int64_t total_size(const std::vector<Block>& blocks);

void pack_all(const std::vector<Block>& blocks, double* to);
void unpack_all(const double* from, const std::vector<Block>& blocks);

/// Isend and Irecv, packed where a block is not contiguous, this rank's own block copied directly
/// while the others travel, unpacked in the order of arrival.
std::function<void()> isend_irecv(Workspace& workspace, const Blocks& blocks, Waits waits);
/// The same with subarrays instead of packing.
std::function<void()> isend_irecv_types(Workspace& workspace, const Blocks& blocks, Waits waits);
/// Alltoallw with subarrays.
std::function<void()> alltoallw(Workspace& workspace, const Blocks& blocks, Waits waits);

/// A rival that `make(workspace, blocks, waits)` makes. One whose waits yield is no plain
/// collective.
template <class Make>
Variant rival(const std::string& name, Kind kind, const Geometry& geometry, Waits waits,
              const Make& make) {
  return variant(name + suffix(waits), waits == Waits::spinning ? kind : Kind::direct,
                 [=](Workspace& workspace) {
                   const auto mine = blocks(geometry, workspace.source, workspace.target);
                   return std::function<void()>(make(workspace, mine, waits));
                 });
}

/// One variant per way to wait.
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
