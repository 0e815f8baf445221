// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/extents/element_type.hpp>
#include <tessera/plan/detail/settings.hpp>
#include <tessera/plan/detail/transfer.hpp>
#include <tessera/plan/options.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

class DeviceMesh;
class Redistributor;

namespace detail {
struct PlanAccess;
struct Movement;
}  // namespace detail

/// Describes what one rank does in one phase of a step.
struct Phase {
  Piece source;       ///< this rank's piece before the phase; blocks to send lie in it
  Piece destination;  ///< this rank's piece after the phase; blocks to receive lie in it; without
                      ///< sections in a plan to needs
  /// Lists blocks for other ranks. Those for one rank follow one another and travel in one message.
  Blocks send;
  /// Lists blocks of other ranks, likewise, and its own. In a reduction: part by part of the piece,
  /// each part's contributions in order.
  Blocks receive;
  int contributions = 1;  ///< consecutive entries of `receive` that are reduced into one part
  /// Says that the destination is an array of one dim, in which blocks of other ranks follow one
  /// another as they travel.
  bool arrives_packed = false;
};

/// StepKind says what a step does. `exchange`: local pieces move. `reduce`: contributions along
/// Partial mesh dims are combined, too, see Phase.
enum class StepKind : std::uint8_t { exchange, reduce };

/// Describes what one rank does in one step. A step that communicates counts as one exchange,
/// whatever its phases.
struct Step {
  StepKind kind;
  bool communicates;  ///< true if some rank sends to another one; equal on every rank
  std::vector<Phase> phases;
};

/// Holds the planner's upper bounds over all ranks. On a mesh of up to 64 ranks that lies on one
/// node, they are exact for each transfer of a plan.
struct PlanCost {
  std::int64_t bytes_received = 0;  ///< includes bytes from the rank itself on other meshes
  std::int64_t bytes_reduced = 0;   ///< operand bytes read by reductions
  std::int64_t messages_received = 0;
  std::int64_t inter_node_bytes_received = 0;     ///< part from other nodes, counted on some ranks
  std::int64_t inter_node_messages_received = 0;  ///< likewise; or messages sent there, if more
  double seconds = 0.0;                           ///< predicted time by the options' cost model
  std::int64_t extra_memory = 0;                  ///< largest size of the messages under way, bytes
};

/// Describes the local work on the target's new Partial mesh dims, once the data has arrived.
struct PartialTarget {
  ReduceOp op;             ///< its identity fills what a rank does not hold
  std::int64_t scale = 1;  ///< factor by which a rank multiplies what it holds (avg)
};

/// Describes how to get from one spec to another, as data. A plan is a function of source, target,
/// element type and options: it is equal on every rank and made without communication. It is a
/// shared handle, so that copies are cheap.
class RedistributePlan {
 public:
  const DTensorSpec& source() const;
  const DTensorSpec& target() const;
  ElementType element_type() const;
  const PlanOptions& options() const;

  /// Returns the steps of one rank, which are made on demand. O(peers of that rank). From one mesh
  /// to another, ranks are numbered by position in ranks(), here and in the steps.
  std::vector<Step> steps(int mesh_rank) const;
  /// Returns the ranks of the communicator that take part: those of the mesh in its order, or those
  /// of both meshes, ascending.
  const std::vector<int>& ranks() const;
  /// Returns the number of steps in which data travels between ranks.
  int exchanges() const;
  /// Returns the local work besides the steps, if the target has new Partial mesh dims.
  const std::optional<PartialTarget>& partial_target() const;

  /// Returns bounds of bytes and messages, and the predicted seconds by the cost model of the
  /// options.
  PlanCost cost() const;
  /// Describes steps, placements and bytes in several lines of text.
  std::string explain() const;

  /// Makes the plan executable on this rank of `mesh`, whose layout must be the plan's. Local.
  ///
  /// Errors: MeshMismatch.
  Redistributor bind(const DeviceMesh& mesh) const;
  /// Binds a plan from one mesh to another. Errors: MeshMismatch, also for meshes of different
  /// communicators.
  Redistributor bind(const DeviceMesh& source, const DeviceMesh& target) const;

 private:
  friend detail::PlanAccess;
  struct Data;
  explicit RedistributePlan(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

/// Plans the path from `source` to `target`, two specs of the same global shape on the same mesh
/// layout.
///
/// Partial mesh dims are reduced first, all together. What remains is one direct exchange in which
/// every rank receives what it needs and does not have, and nothing else. If the cost model of the
/// options says that they cost less, there are several exchanges: one for each mesh dim, or by way
/// of nodes.
///
/// Errors: InvalidArgument for different shapes, or an op that the element type cannot reduce;
/// MeshMismatch for different layouts.
RedistributePlan make_plan(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                           const PlanOptions& options = {});

/// Plans the path from one mesh to another mesh of the same communicator, which may share ranks
/// with it or not.
///
/// Partial mesh dims are reduced on the source's mesh. Then every rank of the target's mesh fetches
/// what it needs and does not have; these ranks spread their requests over the replicas of the
/// source. If both specs are on one mesh, the plan is that of make_plan(). Errors: InvalidArgument
/// as for make_plan().
RedistributePlan make_plan_across(const DTensorSpec& source, const DTensorSpec& target,
                                  ElementType type, const PlanOptions& options = {});

namespace detail {

/// Gives the library what it executes of a plan.
struct PlanAccess {
  using Data = RedistributePlan::Data;

  /// Returns the plan of make_plan(), or of make_plan_across() if the specs are on two meshes. Its
  /// errors name no function; the caller does.
  static RedistributePlan make(const DTensorSpec& source, const DTensorSpec& target,
                               ElementType type, const PlanSettings& settings);

  /// Returns what ranks know of the plan besides its steps. It lives as long as the plan.
  static const Movement& movement(const RedistributePlan& plan);
  /// Returns a hash of source, target, element type and settings.
  static std::uint64_t hash(const RedistributePlan& plan);
};

/// Returns the plan of make_plan(). Its errors name no function; the caller
/// does.
RedistributePlan plan_on_one_mesh(const DTensorSpec& source, const DTensorSpec& target,
                                  ElementType type, const PlanSettings& settings);

/// Throws InvalidArgument for a limit below 0.
void require_memory_limit(std::int64_t extra_memory);
/// Returns what differs from the default, each with ", " in front.
std::string in_words(const PlanSettings& settings);
std::uint64_t hash_of(const PlanSettings& settings);
/// Returns the PlanAccess::hash() of a plan without making the plan.
std::uint64_t plan_hash(const DTensorSpec& source, const DTensorSpec& target, ElementType type,
                        const PlanSettings& settings);

}  // namespace detail

/// Returns one line: "(16, 24) on (dp=4) as S(0) -> … as R: 1 exchange".
std::string to_string(const RedistributePlan& plan);

}  // namespace tessera
