// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/plan/plan.hpp>

#include "plan/mesh_pair.hpp"

namespace tessera::detail {

/// Counts what one rank holds, receives and computes when it executes a plan.
struct RankLoad {
  Piece source;  ///< the rank's piece before; empty off the source's mesh
  Piece target;  ///< the rank's piece after; empty off the target's mesh
  std::int64_t source_elements = 0;
  std::int64_t target_elements = 0;
  std::int64_t bytes_received = 0;     ///< bytes that other ranks send to this one
  std::int64_t messages_received = 0;  ///< blocks from other ranks; long ones take several messages
  std::int64_t bytes_needed = 0;       ///< least to receive: what the rank needs and does not have
  std::int64_t operands = 0;  ///< elements that the rank copies or reduces, its own included
  std::int64_t memory = 0;    ///< source, target and results between steps, bytes
};

/// Computes the loads of ranks from sections per tensor dim, without making their blocks. One rank
/// takes O(tensor dims · log ranks) time where pieces are boxes, whatever the number of its peers;
/// under Cyclic and HeadTail it takes O(tensor dims · parts).
class RankLoads {
 public:
  explicit RankLoads(const RedistributePlan& plan);

  int size() const { return static_cast<int>(plan_.ranks().size()); }
  /// Returns the load of the rank at `position` in plan.ranks(); on one mesh this is the mesh rank.
  RankLoad of(int position) const;

 private:
  /// Holds, for each tensor dim, where the parts of `from` that are not empty begin; nothing where
  /// they are no intervals.
  using Begins = std::vector<std::vector<std::int64_t>>;
  struct CountedTransfer {
    Transfer transfer;
    Begins begins;
  };

  Piece piece(const DTensorSpec& spec, int position) const;
  void add(const CountedTransfer& counted, int position, RankLoad& load) const;
  /// Adds what the blocks of a rank say, for transfers along which few ranks meet.
  void add_blocks(const Transfer& transfer, int position, RankLoad& load) const;
  /// Returns the mesh rank of the rank at `position` on the mesh of `spec`; -1 if it is off that
  /// mesh.
  int mesh_rank(const DTensorSpec& spec, int position) const;
  bool is_on(const DTensorSpec& spec, int position) const { return mesh_rank(spec, position) >= 0; }
  /// Returns how many elements the rank at `position` holds under both specs.
  std::int64_t common(const DTensorSpec& a, const DTensorSpec& b, int position) const;
  std::int64_t bytes_needed(const RankLoad& load, int position) const;
  std::int64_t bytes_between_steps(int position) const;
  bool fetches(const Transfer& transfer, int position) const;
  bool keeps_its_piece(const Transfer& transfer, int position) const;

  RedistributePlan plan_;
  std::unique_ptr<const MeshPair> pair_;  ///< null if source and target are on one mesh
  std::vector<CountedTransfer> transfers_;
};

}  // namespace tessera::detail
