// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/comm/collectives.hpp>
#include <tessera/redistribute/detail/phase_run.hpp>
#include <tessera/redistribute/detail/planes.hpp>
#include <tessera/redistribute/detail/reduction.hpp>

namespace tessera::detail {

/// Executions of a plan that move little on this rank: in one phase, in messages, between host
/// arrays. All messages are posted at once, and how blocks are packed, unpacked and reduced is
/// found once.
///
/// The messages are those of a Run, so each rank chooses for itself.
class ShortExchange {
 public:
  /// Whether the plan moves so little on this rank of `group`.
  static bool may_serve(const RedistributePlan& plan, const std::vector<Step>& steps,
                        const Group& group);

  /// For a plan that it may serve. Refers to the group.
  ShortExchange(const BoundPlan& bound, const Group& group);

  /// Made for arrays that differ from these in their addresses at most.
  bool is_for(const BoundPlan& bound) const;
  /// On return all is done. False, and nothing is done, where it takes a Run. Collective over the
  /// group. Errors: those of the call around it, see collectively(); MpiError.
  bool run(const Execution& execution, const BoundPlan& bound, Scratch& scratch,
           const char* operation);

 private:
  struct Packing {
    std::ptrdiff_t place;  ///< in scratch
    PreparedCopy copy;     ///< to scratch, or from there
  };
  /// A message.
  struct Parcel {
    int peer;
    std::int64_t bytes;
    std::ptrdiff_t offset;                ///< in the array; of a term: among those that arrive
    std::optional<Packing> packing = {};  ///< none: it is a part of the array
  };
  struct OwnBlock {
    std::ptrdiff_t from;  ///< in the source
    std::ptrdiff_t to;    ///< in the destination
    PreparedCopy copy;
  };
  struct Term {
    bool is_own;
    std::ptrdiff_t offset;  ///< in the source, or among those that arrive
  };
  struct PreparedReduction {
    std::ptrdiff_t to;  ///< in the destination
    std::vector<Term> terms;
    Reduction loops;
  };

  void prepare_to_send(const Phase& phase, WireOrder order);
  void prepare_to_receive(const Phase& phase, WireOrder order);
  void prepare_to_reduce(const Phase& phase, WireOrder order, std::int64_t divisor);
  PreparedCopy prepared(const ArrayRef& from, const ArrayRef& to);
  void reduce(const Execution& execution, PreparedReduction& reduction, const BoundPlan& bound,
              std::byte* arrived) const;

  const Group& group_;
  ArrayRef source_;  ///< as it was bound first
  ArrayRef destination_;
  ReduceOp op_;
  bool is_possible_;
  std::vector<Parcel> outgoing_;  ///< first those to the next higher ranks
  std::vector<Parcel> incoming_;
  std::vector<OwnBlock> own_;
  std::vector<PreparedReduction> reductions_;
  std::int64_t packed_bytes_ = 0;    ///< of messages
  std::int64_t outgoing_bytes_ = 0;  ///< of scratch
  std::int64_t incoming_bytes_ = 0;
  std::int64_t largest_copy_ = 0;
};

}  // namespace tessera::detail
