// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/comm/collectives.hpp>
#include <tessera/redistribute/detail/pack.hpp>
#include <tessera/redistribute/detail/scratch.hpp>
#include <tessera/redistribute/plan.hpp>
#include <tessera/tensor/array_ref.hpp>

namespace tessera::detail {

/// Bytes that travel between this rank and `peer` (a mesh rank). Elements are packed in row-major
/// order of their box.
struct Message {
  int peer;
  std::byte* data;
  std::int64_t bytes;
};

/// One phase of a step on one rank, bound to memory. Whoever carries the messages (MPI, or a test
/// that plays all ranks) calls pack, moves `outgoing` to `incoming`, and calls unpack.
class PhaseRun {
 public:
  /// `source` and `destination` are the pieces phase.source and phase.destination. Scratch is in
  /// use until unpack has completed.
  PhaseRun(const RedistributePlan& plan, const Step& step, const Phase& phase, int mesh_rank,
           const ArrayRef& source, const ArrayRef& destination, Scratch& scratch);

  const std::vector<Message>& outgoing() const { return outgoing_; }
  const std::vector<Message>& incoming() const { return incoming_; }

  /// Fills the outgoing messages that are not sent straight from the source.
  void pack(const Execution& execution) const;
  /// Copies own blocks from source to destination. May run while messages travel.
  void copy_own(const Execution& execution) const;
  /// Once all has arrived: blocks into the destination, or terms reduced into it.
  void unpack(const Execution& execution) const;

 private:
  struct Reduction {
    std::vector<ArrayRef> terms;
    ArrayRef destination;
  };

  void add_outgoing(const Phase& phase, std::byte*& slot);
  void add_incoming(const Phase& phase, int mesh_rank, std::byte*& slot);
  void add_reductions(const Phase& phase, int mesh_rank, std::byte*& slot, Scratch& scratch);

  ArrayRef source_;
  ArrayRef destination_;
  ReduceOp op_;
  std::int64_t divisor_;
  std::vector<Message> outgoing_;
  std::vector<Message> incoming_;
  std::vector<CopyJob> pack_jobs_;
  std::vector<CopyJob> own_jobs_;
  std::vector<CopyJob> unpack_jobs_;
  std::vector<Reduction> reductions_;
};

/// Before the steps: the identity where the target has new Partial mesh dims.
void prepare_destination(const Execution& execution, const RedistributePlan& plan,
                         const ArrayRef& destination);
/// After the steps: scales what the rank holds where the target is a new P(avg).
void complete_destination(const Execution& execution, const RedistributePlan& plan,
                          const std::vector<Step>& steps, const ArrayRef& destination);
/// Where a phase's result goes if another phase follows: dense scratch in the memory space of
/// `like`.
ArrayRef intermediate_array(const Phase& phase, const ArrayRef& like, Scratch& scratch);

}  // namespace tessera::detail
