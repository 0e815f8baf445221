// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute: executes small plans that were prepared once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tessera/comm/collectives.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "comm/exchange.hpp"
#include "engine/phase_run.hpp"
#include "kernels/copy_plan.hpp"
#include "kernels/reduction.hpp"
#include "kernels/timed_write.hpp"

namespace tessera::detail {

/// Executions of a plan that move little on this rank, in messages or within its memory: in one
/// step, between host arrays. How blocks are packed, unpacked and reduced is found once. All
/// messages of a phase are posted at once, but for terms of several chunks: those of each chunk are
/// a round, and two rounds are under way.
///
/// The messages are those of a Run, so each rank chooses for itself.
class ShortExchange {
 public:
  /// Whether the plan moves so little on this rank of `group`.
  static bool may_serve(const Movement& movement, const std::vector<Step>& steps,
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
  /// One array of a chunk.
  struct PartCopy {
    std::ptrdiff_t in_array;
    std::ptrdiff_t in_packing;
    PreparedCopy copy;  ///< to scratch, or from there
  };
  struct Packing {
    std::ptrdiff_t place = 0;  ///< in scratch
    std::vector<PartCopy> parts = {};
  };
  /// A message.
  struct Parcel {
    int peer;
    std::int64_t bytes;
    std::ptrdiff_t offset;           ///< in the array; of a term: among those that arrive
    Packing packing = {};            ///< without parts: it is a part of the array
    Exchange::MessageId ticket = 0;  ///< of this execution, as are all is_…
    bool is_unpacked = false;

    bool is_packed() const { return !packing.parts.empty(); }
  };
  struct OwnBlock {
    std::ptrdiff_t from;  ///< in the source
    std::ptrdiff_t to;    ///< in the destination
    std::int64_t bytes;
    PreparedCopy copy;
  };
  struct Term {
    bool is_own;
    std::ptrdiff_t offset;  ///< in the source, or among those that arrive
  };
  struct PreparedReduction {
    std::ptrdiff_t to;  ///< in the destination
    std::vector<Term> terms;
    std::shared_ptr<Reduction> loops;
    std::size_t first_parcel;  ///< of its terms that arrive
    std::size_t last_parcel;   ///< behind them
    bool is_reduced = false;
  };
  /// Messages that are posted together.
  struct Round {
    std::vector<Parcel> outgoing = {};  ///< first those to the next higher ranks
    std::vector<Parcel> incoming = {};
    std::vector<PreparedReduction> reductions = {};
    std::int64_t outgoing_bytes = 0;  ///< of scratch
    std::int64_t incoming_bytes = 0;
  };
  struct PreparedPhase {
    bool reads_destination;  ///< where the phase before has left its result; else the source
    std::vector<Round> rounds = {};
    std::vector<OwnBlock> own = {};
    std::int64_t packed_bytes = 0;    ///< of messages
    std::int64_t outgoing_bytes = 0;  ///< of scratch, of the round that needs most
    std::int64_t incoming_bytes = 0;
    StoreChoices choices = {};
    TimedPacking packing = {};
  };
  /// Where the arrays of a phase lie this time.
  struct Addresses {
    const std::byte* source;
    std::byte* destination;
    std::byte* packed;
    std::byte* arrived;
  };

  void prepare(const BoundPlan& bound);
  void prepare_to_send(const Phase& phase, const ArrayRef& source, WireOrder order, bool reduces,
                       PreparedPhase& prepared);
  void prepare_to_receive(const Phase& phase, const ArrayRef& source, const ArrayRef& destination,
                          WireOrder order, PreparedPhase& prepared);
  void prepare_to_reduce(const Phase& phase, const ArrayRef& source, const ArrayRef& destination,
                         const Movement& movement, PreparedPhase& prepared);
  void prepare_to_reduce(std::span<const Block> blocks, const BlockArray& own, const BlockArray& to,
                         std::int64_t divisor, Round& round);
  static Round& round(PreparedPhase& phase, std::int64_t number);
  PreparedCopy prepared_copy(const ArrayRef& from, const ArrayRef& to);
  Packing prepared_packing(const BlockArray& chunk, const std::byte* start, bool is_sent,
                           std::ptrdiff_t place);
  int rank(int peer) const { return group_.ranks[static_cast<std::size_t>(peer)]; }
  static Addresses of_round(std::size_t number, const PreparedPhase& phase,
                            const Addresses& addresses);
  void run(const Execution& execution, const Addresses& addresses, PreparedPhase& phase,
           Exchange* exchange);
  void post(const Execution& execution, const Addresses& addresses, Stores stores, Round& round,
            Exchange* exchange);
  void copy_own(const Execution& execution, const Addresses& addresses, PreparedPhase& phase);
  static bool is_complete(const Round& round, const Exchange& exchange);
  /// What has arrived.
  void take(const Execution& execution, const Addresses& addresses, StoreChoices& choices,
            Round& round, const Exchange* exchange);
  void reduce(const Execution& execution, const Addresses& addresses, StoreChoice& choice,
              PreparedReduction& reduction);

  const Group& group_;
  ArrayRef source_;  ///< as it was bound first
  ArrayRef destination_;
  ReduceOp op_;
  bool communicates_;  ///< else there is no Exchange
  ChunkSizes sizes_;
  bool is_possible_;
  std::vector<PreparedPhase> phases_;
  std::int64_t packed_bytes_ = 0;    ///< of all phases
  std::int64_t outgoing_bytes_ = 0;  ///< of the phase that needs most scratch
  std::int64_t incoming_bytes_ = 0;
  std::int64_t largest_copy_ = 0;
};

}  // namespace tessera::detail
