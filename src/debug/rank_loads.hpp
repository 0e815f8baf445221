// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/plan/plan.hpp>

#include "plan/mesh_pair.hpp"

namespace tessera::detail {

/// What one rank has to do with a plan.
struct RankLoad {
  Box source;  ///< its piece before; off the source's mesh an empty box
  Box target;  ///< and after
  std::int64_t source_elements = 0;
  std::int64_t target_elements = 0;
  std::int64_t bytes_received = 0;     ///< from other ranks
  std::int64_t messages_received = 0;  ///< blocks; long ones travel in several
  std::int64_t bytes_needed = 0;       ///< the least to receive: what it needs and does not have
  std::int64_t operands = 0;           ///< elements that it copies or reduces, own ones included
  std::int64_t memory = 0;             ///< bytes of source, target and what lies between steps
};

/// Counts what ranks have to do with a plan from intervals per tensor dim, without their blocks: a
/// rank costs O(tensor dims · log ranks), whatever the number of its peers.
class RankLoads {
 public:
  explicit RankLoads(const RedistributePlan& plan);

  int size() const { return static_cast<int>(plan_.ranks().size()); }
  /// Of the rank at a position in plan.ranks(): on one mesh, of a mesh rank.
  RankLoad of(int position) const;

 private:
  /// Per tensor dim, where the parts of `from` begin that are not empty.
  using Begins = std::vector<std::vector<std::int64_t>>;
  struct CountedHop {
    Hop hop;
    Begins begins;
  };

  Box piece(const DTensorSpec& spec, int position) const;
  void add(const CountedHop& counted, int position, RankLoad& load) const;
  /// On the mesh of a spec; -1 off it.
  int mesh_rank(const DTensorSpec& spec, int position) const;
  bool is_on(const DTensorSpec& spec, int position) const { return mesh_rank(spec, position) >= 0; }
  /// Elements that a rank holds in both.
  std::int64_t common(const DTensorSpec& a, const DTensorSpec& b, int position) const;
  std::int64_t bytes_needed(const RankLoad& load, int position) const;
  std::int64_t bytes_between_steps(int position) const;
  bool fetches(const Hop& hop, int position) const;
  bool keeps_its_piece(const Hop& hop, int position) const;

  RedistributePlan plan_;
  std::unique_ptr<const MeshPair> pair_;  ///< null: one mesh
  std::vector<CountedHop> hops_;
};

}  // namespace tessera::detail
