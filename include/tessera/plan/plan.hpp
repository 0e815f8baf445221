// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/extents/element_type.hpp>
#include <tessera/plan/detail/hop.hpp>
#include <tessera/plan/options.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

class DeviceMesh;
class Redistributor;

/// What one rank does in one phase of a step. Boxes are global indices.
struct Phase {
  Box source;                  ///< this rank's piece before the phase; blocks to send lie in it
  Box destination;             ///< this rank's piece after the phase; blocks to receive lie in it
  std::vector<Block> send;     ///< to other ranks, at most one to each
  std::vector<Block> receive;  ///< from other ranks and from itself; for reductions box by box,
                               ///< each box's terms in order
  int terms = 1;               ///< consecutive entries of `receive` that are reduced into one box
};

/// `exchange`: pieces move. `reduce`: terms of Partial mesh dims are combined, too, see Phase.
enum class StepKind : std::uint8_t { exchange, reduce };

/// What one rank does in one step. A step that communicates counts as one exchange, whatever its
/// phases.
struct Step {
  StepKind kind;
  bool communicates;  ///< some rank sends to another one; the same on every rank
  std::vector<Phase> phases;
};

/// Upper bounds over all ranks, in the planner's own terms.
struct PlanCost {
  std::int64_t bytes_received = 0;  ///< what a rank takes from its own piece counts, too
  std::int64_t bytes_reduced = 0;   ///< operands read by reductions
  std::int64_t messages_received = 0;
  std::int64_t far_bytes_received = 0;     ///< of these, from other nodes, by some ranks
  std::int64_t far_messages_received = 0;  ///< likewise, or sent where those are more
  double seconds = 0.0;                    ///< by the cost model of the options
  std::int64_t extra_memory = 0;           ///< most bytes of messages under way
};

/// What remains on the target's Partial mesh dims once the data has arrived.
struct PartialTarget {
  ReduceOp op;             ///< its identity fills what a rank does not hold
  std::int64_t scale = 1;  ///< what a rank holds is multiplied by this (avg)
};

/// How to get from one spec to another, as data: a function of source, target, element type and
/// options, so equal on every rank, made without communication. A cheap shared handle.
class RedistributePlan {
 public:
  const DTensorSpec& source() const;
  const DTensorSpec& target() const;
  ElementType element_type() const;
  const RedistributeOptions& options() const;

  /// Steps of one rank, made on demand. O(peers of that rank). From one mesh to another, ranks are
  /// numbered by position in ranks(), here and in the steps.
  std::vector<Step> steps(int mesh_rank) const;
  /// Ranks of the communicator that take part: those of the mesh in its order, or of both meshes,
  /// ascending.
  const std::vector<int>& ranks() const;
  /// Number of steps in which data travels between ranks.
  int exchanges() const;
  /// What to do around the steps where the target has new Partial mesh dims.
  const std::optional<PartialTarget>& partial_target() const;
  /// How reduce steps combine: the op, and the number that the result is divided by.
  ReduceOp reduce_op() const;
  /// That number: 1 unless an avg is reduced.
  std::int64_t divisor() const;

  /// Most bytes of one message. Longer blocks are cut, and so are, where no ranks share a window,
  /// terms of reductions of more than 256 KiB: one chunk travels while the next is packed, and all
  /// that are under way at once respect RedistributeOptions::extra_memory.
  std::int64_t message_bytes() const;
  /// Messages of this length that a rank sends at once, at most; it receives as many, and terms
  /// besides. Of shorter ones there may be more.
  int messages_at_once() const;
  /// Of many terms of a box, so many are received together, and those of two chunks at once: they are
  /// a branch of the fixed tree, whose result waits for the others. A power of two.
  int terms_at_once() const;
  /// Messages that a rank may have memory for, and the limit for all of it.
  std::int64_t message_buffers() const;
  /// That limit, in bytes.
  std::int64_t memory_limit() const;

  /// Of source, target, element type and options.
  std::uint64_t hash() const;

  /// Bytes and messages, and seconds by the cost model of the options.
  PlanCost cost() const;
  /// Steps, placements and bytes in words, several lines.
  std::string explain() const;

  /// Makes the plan executable on this rank of `mesh`, whose layout must be the plan's. Local.
  ///
  /// Errors: MeshMismatch.
  Redistributor bind(const DeviceMesh& mesh) const;
  /// The same for a plan from one mesh to another. Errors: MeshMismatch, also for meshes of
  /// different communicators.
  Redistributor bind(const DeviceMesh& source, const DeviceMesh& target) const;

  /// For the library itself.
  struct Data;

 private:
  friend RedistributePlan make_plan(const DTensorSpec&, const DTensorSpec&, ElementType,
                                    const RedistributeOptions&, const char*);
  friend RedistributePlan make_plan_across(const DTensorSpec&, const DTensorSpec&, ElementType,
                                           const RedistributeOptions&, const char*);
  explicit RedistributePlan(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

/// Plans the way from `source` to `target`, two specs of the same global shape on the same mesh
/// layout.
///
/// Partial mesh dims are reduced first, all together; what remains is one direct exchange in which
/// every rank receives what it needs and does not have, and nothing else. Where the cost model of
/// the options says that they cost less: one exchange for each mesh dim, or by way of the nodes.
///
/// Errors: InvalidArgument for different shapes, or an op that the element type cannot reduce;
/// MeshMismatch for different layouts.
RedistributePlan make_plan(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                           const RedistributeOptions& options = {},
                           const char* function = "make_plan");

/// The same from one mesh to another one of the same communicator, which may share ranks with it or
/// not.
///
/// Partial mesh dims are reduced on the source's mesh, then every rank of the target's fetches what
/// it needs and does not have; targets share out the copies of what is replicated. On one mesh it
/// is make_plan. Errors: InvalidArgument as there.
RedistributePlan make_plan_across(const DTensorSpec& source, const DTensorSpec& target,
                                  ElementType type, const RedistributeOptions& options = {},
                                  const char* function = "make_plan_across");

namespace detail {
std::uint64_t hash_of(const RedistributeOptions& options);
/// RedistributePlan::hash() of a plan that need not exist.
std::uint64_t plan_hash(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                        const RedistributeOptions& options);
}  // namespace detail

/// One line: "(16, 24) on (dp=4) as S(0) -> … as R: 1 exchange".
std::string to_string(const RedistributePlan& plan);

}  // namespace tessera
