// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <tessera/comm/detail/window.hpp>
#include <tessera/comm/exchange.hpp>
#include <tessera/redistribute/detail/cut.hpp>
#include <tessera/redistribute/detail/pack.hpp>
#include <tessera/redistribute/detail/planes.hpp>
#include <tessera/redistribute/plan.hpp>
#include <tessera/tensor/array_ref.hpp>

namespace tessera::detail {

struct Scratch;
class PhaseRun;

/// Bytes that travel between this rank and `peer` (a mesh rank).
struct Message {
  int peer;
  std::byte* data;
  std::int64_t bytes;
};

/// How the ranks of a mesh are reached.
struct Peers {
  std::span<const int> ranks;  ///< of the communicator, by mesh rank
  std::span<const int> lanes;  ///< by rank of the communicator, -1 for messages; empty: all of them

  int lane(int mesh_rank) const {
    return lanes.empty() ? -1 : lanes[static_cast<std::size_t>(rank(mesh_rank))];
  }
  int rank(int mesh_rank) const { return ranks[static_cast<std::size_t>(mesh_rank)]; }
};

/// Bytes of the largest chunks. The same on both sides.
struct ChunkSizes {
  std::int64_t window = 0;
  std::int64_t message = std::numeric_limits<std::int64_t>::max();
  std::int64_t term =
      std::numeric_limits<std::int64_t>::max();  ///< of what is reduced, by either way

  friend bool operator==(const ChunkSizes&, const ChunkSizes&) = default;
};

/// A plan bound to memory.
struct BoundPlan {
  const RedistributePlan& plan;
  const std::vector<Step>& steps;  ///< of this rank
  ArrayRef source;
  ArrayRef destination;
  std::vector<PhaseRun>* kept = nullptr;  ///< of earlier executions, by phase; null: not kept
};

/// One phase of a step on one rank, bound to memory: blocks that travel in chunks through the
/// node's window, others in rounds of messages with one chunk of each block. Whoever carries them
/// (the node and MPI, or a test that plays all ranks) calls advance() and the rounds in turn until
/// is_complete().
///
/// Keeps its lists when it is used again, and for arrays of the same shapes and strides also what
/// is in them.
class PhaseRun {
 public:
  /// Instead of clear() and add() for the same phase of the same plan as the last time, if that was
  /// for arrays that differ in their addresses at most, for the same peers and sizes. Otherwise
  /// false, and nothing is done.
  bool repeat(const Peers& peers, const ChunkSizes& sizes, const ArrayRef& source,
              const ArrayRef& destination);
  /// Forgets what was added. `mesh_rank`: the caller's.
  void clear(int mesh_rank, const Peers& peers, const ChunkSizes& sizes);
  /// Adds the phase of one plan; `source` and `destination` are the pieces phase.source and
  /// phase.destination. Chunks to one peer travel in the order in which they were added. Of several
  /// plans either all phases reduce or none.
  void add(const RedistributePlan& plan, const Step& step, const Phase& phase,
           const ArrayRef& source, const ArrayRef& destination);
  /// Once all is added. `scratch` is in use until the end.
  void begin(Scratch& scratch);

  /// Packs the next round of messages. Whether there is one; only after the last one has ended and
  /// what was reduced from it.
  bool begin_round(const Execution& execution);
  bool is_in_round() const { return is_in_round_; }
  const std::vector<Message>& outgoing() const { return sends_; }
  const std::vector<Message>& incoming() const { return receives_; }
  /// Once the messages of the round have arrived.
  void end_round(const Execution& execution);

  /// Passes chunks on, and reduces, as far as it can without waiting. Whether anything was done.
  bool advance(const Execution& execution, Lanes* lanes);
  /// Copies a part of what stays on this rank. Whether anything was left.
  bool copy_own(const Execution& execution);
  bool is_complete() const;
  /// Counts what travels through the window.
  void count(Exchange& exchange) const;
  /// Lanes from which chunks are missing.
  std::vector<int> awaited_lanes() const;

 private:
  /// A block between this rank and a peer.
  struct Stream {
    int peer;
    int lane;  ///< -1: messages
    ArrayRef array;
    Cut cut;
    Stores stores;
    std::optional<PreparedCopy> prepared = {};  ///< to or from a slot, of one chunk
    std::int64_t next = 0;

    bool is_done() const { return next == cut.chunks(); }
    ArrayRef next_chunk() const;
  };
  /// A block that stays, perhaps where it is.
  struct OwnBlock {
    ArrayRef source;
    ArrayRef destination;
    Cut cut;
    Stores stores;
    std::optional<PreparedCopy> prepared = {};  ///< of one chunk
    std::int64_t next = 0;
  };
  struct Term {
    int peer;
    int lane;
    ArrayRef array;  ///< this rank's own; of messages, the chunk of the round
  };
  struct Reduction {
    ArrayRef destination;
    Cut cut;
    Stores stores;
    std::size_t first_term;
    std::size_t terms;
    ReduceOp op;
    std::int64_t divisor;
    bool has_messages = false;
    std::int64_t next = 0;

    bool is_done() const { return next == cut.chunks(); }
  };

  void add_reductions(const RedistributePlan& plan, const Phase& phase, const ArrayRef& source,
                      const ArrayRef& destination);
  void add_blocks(const RedistributePlan& plan, const Phase& phase, const ArrayRef& source,
                  const ArrayRef& destination);
  std::int64_t chunk_bytes(int lane) const { return lane < 0 ? sizes_.message : sizes_.window; }
  std::span<const Term> terms_of(const Reduction& reduction) const {
    return std::span(terms_).subspan(reduction.first_term, reduction.terms);
  }

  bool may_begin_round() const;
  ArrayRef staged(const ArrayRef& chunk);
  std::int64_t round_bytes() const;
  void receive_terms(const Reduction& reduction);

  void prepare_copies();
  /// Whether there was such a copy for the calling thread.
  static bool run(const Execution& execution, std::optional<PreparedCopy>& copy,
                  const std::byte* source, std::byte* destination, Stores stores);

  bool send_chunks(const Execution& execution, Lanes& lanes);
  bool receive_chunks(const Execution& execution, Lanes& lanes);
  bool reduce_chunks(const Execution& execution, Lanes* lanes);
  bool are_terms_here(const Reduction& reduction, Lanes* lanes);
  void collect_operands(const Execution& execution, const Reduction& reduction,
                        const ArrayRef& result, Lanes* lanes);
  void move_to_space_of(const Execution& execution, const ArrayRef& result);
  /// Whether earlier blocks of this lane are under way.
  bool is_blocked(int lane);
  void block(int lane);
  /// Once a stream was moved on as far as it can.
  void settle(const Stream& stream);
  void unblock_all();

  int mesh_rank_ = 0;
  Peers peers_;
  ChunkSizes sizes_;
  Scratch* scratch_ = nullptr;
  int plans_ = 0;
  ArrayRef source_;  ///< of the last plan
  ArrayRef destination_;
  std::vector<Stream> outgoing_;
  std::vector<Stream> incoming_;
  std::vector<OwnBlock> own_;
  std::vector<Term> terms_;
  std::vector<Reduction> reductions_;
  std::size_t left_ = 0;  ///< streams and reductions that are not done
  std::size_t next_own_ = 0;

  bool has_messages_ = false;
  std::int64_t rounds_ = 0;  ///< that have ended
  bool is_in_round_ = false;
  std::byte* free_ = nullptr;  ///< memory of the round that is not yet used
  std::vector<Message> sends_;
  std::vector<Message> receives_;
  std::vector<CopyJob> pack_jobs_;
  std::vector<CopyJob> unpack_jobs_;

  std::vector<char> blocked_;       ///< by lane
  std::vector<ArrayRef> operands_;  ///< of the reduction under way
};

}  // namespace tessera::detail
