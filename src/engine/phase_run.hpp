// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <tessera/plan/plan.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "comm/exchange.hpp"
#include "comm/staging.hpp"
#include "engine/block_array.hpp"
#include "kernels/convert.hpp"
#include "kernels/copy_plan.hpp"
#include "kernels/pack.hpp"
#include "kernels/timed_write.hpp"
#include "node/store_choice.hpp"
#include "node/window.hpp"
#include "placement/wide_sum.hpp"
#include "plan/movement.hpp"
#include "plan/order.hpp"
#include "plan/partial_tree.hpp"

namespace tessera::detail {

struct Scratch;
class ScratchBuffer;
class PhaseRun;

/// Bytes that travel between this rank and `peer` (a mesh rank).
struct Message {
  int peer;
  std::byte* data;
  std::int64_t bytes;
  bool is_sent;
  std::size_t id;  ///< until it is complete
};

/// How the ranks of a mesh are reached.
struct Peers {
  std::span<const int> ranks;  ///< of the communicator, by mesh rank
  std::span<const int> lanes;  ///< by rank of the communicator, -1 for messages; empty: all of them
  Staging staging = Staging::device_memory;  ///< of messages
  const SlotMemory* slots = nullptr;         ///< of lanes; null: in the window itself
  bool is_window_pinned = false;             ///< a device works on it, too

  int lane(int mesh_rank) const {
    return lanes.empty() ? -1 : lanes[static_cast<std::size_t>(rank(mesh_rank))];
  }
  int rank(int mesh_rank) const { return ranks[static_cast<std::size_t>(mesh_rank)]; }
};

/// Bytes of the largest chunks, the same on both sides, and how many messages go at once.
struct ChunkSizes {
  static constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();

  std::int64_t window = 0;
  std::int64_t message = unlimited;
  std::int64_t term = unlimited;  ///< of what is reduced, by either way
  int messages_at_once = 1;       ///< sent, and as many received
  int terms_at_once = 0;          ///< of one chunk; 0: as each plan says

  /// Of a block that travels on this lane, or in messages (-1).
  std::int64_t of(bool reduces, int lane) const {
    if (reduces) return term;
    return lane < 0 ? message : window;
  }
  friend bool operator==(const ChunkSizes&, const ChunkSizes&) = default;
};

/// A plan bound to memory.
struct BoundPlan {
  const Movement& movement;
  const std::vector<Step>& steps;  ///< of this rank
  ArrayRef source;
  ArrayRef destination;
  std::vector<PhaseRun>* kept = nullptr;  ///< of earlier executions, by phase; null: not kept
  Scaling scaling = {};                   ///< of what arrives; of plans without reductions only

  /// Elements have one type all the way, and arrive as they are.
  bool is_plain() const { return source.type == destination.type && scaling.is_copy(); }
};

/// One phase of a step on one rank, bound to memory: blocks that travel in chunks, through the
/// node's window or in messages. Whoever carries them (the node and MPI, or a test that plays all
/// ranks) calls advance(), copy_own() and post() in turn, and complete() for the messages, until
/// is_complete().
///
/// Messages go at most so many at once, in an order that all ranks keep: chunk by chunk, of each
/// chunk turn by turn where there are many terms, and first those to (from) the next higher (lower)
/// rank. So the first message on its way in this order always finds its receiver ready, and no rank
/// waits forever. Terms are received group by group, those of the next two turns at once; few terms
/// are one group. Groups are branches of the fixed tree: their results lie in scratch until the
/// tree is complete.
///
/// Keeps its lists when it is used again, and for arrays of the same shapes and strides also what
/// is in them.
class PhaseRun {
 public:
  /// Instead of clear() and add() for the same phase of the same plan as the last time, if that was
  /// for arrays that differ in their addresses at most, for the same peers and sizes. Otherwise
  /// false, and nothing is done.
  bool repeat(const Peers& peers, const ChunkSizes& sizes, const ArrayRef& source,
              const ArrayRef& destination, const Scaling& scaling);
  /// Forgets what was added. `mesh_rank`: the caller's.
  void clear(int mesh_rank, const Peers& peers, const ChunkSizes& sizes);
  /// Adds the phase of one plan; `source` and `destination` are the pieces phase.source and
  /// phase.destination. Chunks to one peer travel in the order in which they were added. Of several
  /// plans either all phases reduce or none.
  void add(const Movement& movement, const Step& step, const Phase& phase, const ArrayRef& source,
           const ArrayRef& destination, const Scaling& scaling = {});
  /// Once all is added. `scratch` is in use until the end.
  void begin(Scratch& scratch);

  /// Packs what can go on its way: messages to post, in this order. Valid until the next call.
  std::span<const Message> post(const Execution& execution);
  /// Messages that have arrived, or were taken.
  void complete(const Execution& execution, std::span<const std::size_t> ids);

  /// Passes chunks on, and reduces, as far as it can without waiting. Whether anything was done.
  bool advance(const Execution& execution, Lanes* lanes);
  /// Copies a part of what stays on this rank. Whether anything was left.
  bool copy_own(const Execution& execution);
  bool is_complete() const;
  /// Blocks or terms of other ranks are missing, or have not gone on their way.
  bool needs_others() const { return left_ > 0; }
  /// Once it is complete.
  void end();
  /// Counts what travels through the window.
  void count(Exchange& exchange) const;
  /// Of results that are complete.
  std::int64_t bytes_done() const;
  /// Lanes from which chunks are missing.
  std::vector<int> awaited_lanes() const;

 private:
  /// The blocks that travel to or from a peer as one message.
  struct Stream {
    int peer;
    int lane;  ///< -1: messages
    BlockArray array;
    BlockChunks cut;
    Stores stores;
    int plan;                                   ///< to which it belongs
    int turn = 0;                               ///< among those with terms, see round_of()
    std::optional<PreparedCopy> prepared = {};  ///< to or from packed bytes, of one chunk
    std::int64_t next = 0;                      ///< chunk to go on its way
    std::int64_t done = 0;                      ///< chunks

    bool travels_in_messages() const { return lane < 0; }
    /// One chunk was published or taken.
    void pass() {
      ++next;
      ++done;
    }
    bool is_done() const { return done == cut.chunks(); }
    BlockArray next_chunk() const;
  };
  /// A block that stays, perhaps where it is.
  struct OwnBlock {
    BlockArray source;
    BlockArray destination;
    BlockChunks cut;
    Stores stores;
    std::optional<PreparedCopy> prepared = {};  ///< of one chunk
    std::int64_t next = 0;
  };
  struct Term {
    int peer;
    int lane;
    BlockArray array;       ///< this rank's own
    std::size_t reduction;  ///< to which it belongs
    int message;            ///< number among those of its reduction; -1: it does not travel so
  };
  struct Reduction {
    BlockArray destination;
    BlockChunks cut;
    Stores stores;  ///< of chunks that are too short to be timed
    std::size_t first_term;
    std::size_t terms;
    ReduceOp op;
    std::int64_t divisor;
    int plan;                           ///< to which it belongs
    int own_term;                       ///< of this rank
    int messages = 0;                   ///< terms that travel so
    std::size_t group = 0;              ///< terms of one group
    std::int64_t buffers = 0;           ///< messages of a group, at most
    std::int64_t first_buffer = 0;      ///< of term_buffers_
    std::int64_t first_partial = 0;     ///< of partials_
    PartialTree tree = PartialTree(1);  ///< of the groups
    std::int64_t next = 0;              ///< turn: the groups of a chunk, then those of the next one
    std::int64_t posted = 0;            ///< turns whose messages are awaited, or were
    std::array<int, 2> missing = {};    ///< messages of the next two turns

    std::int64_t turns() const { return cut.chunks() * tree.leaves(); }
    std::int64_t chunk_of(std::int64_t turn) const { return turn / tree.leaves(); }
    int group_of(std::int64_t turn) const {
      const int before = static_cast<int>(turn % tree.leaves());
      return round_of(before, own_term / static_cast<int>(group), tree.leaves());
    }
    bool is_done() const { return next == turns(); }
    bool is_posted() const { return messages == 0 || posted == turns(); }
    int& missing_of(std::int64_t turn) { return missing[static_cast<std::size_t>(turn % 2)]; }
    ElementType type_of_partials() const { return partial_type(destination.type(), divisor); }
  };
  /// A chunk that travels in a message.
  struct Flight {
    enum class Kind : std::uint8_t { outgoing, incoming, term };
    Kind kind;
    std::size_t index;            ///< of the stream or term
    std::int64_t chunk;           ///< of a term: the turn
    std::byte* buffer = nullptr;  ///< null: none of a pool
  };
  /// Streams take turns, chunk by chunk, those of one plan after those of another.
  struct Turns {
    std::size_t first = 0;  ///< stream of the plan
    std::size_t next = 0;
    bool has_found = false;  ///< a chunk since the first stream
  };
  /// Memory for messages under way in one direction.
  struct Pool {
    std::vector<std::byte*> free;
    int under_way = 0;  ///< messages, with memory of the pool or without
  };

  void add_reductions(const Movement& movement, const Phase& phase, const ArrayRef& source,
                      const ArrayRef& destination);
  int terms_at_once(const Movement& movement) const;
  void group_terms(Reduction& reduction, int at_once);
  void add_blocks(const Movement& movement, const Phase& phase, const ArrayRef& source,
                  const ArrayRef& destination);
  std::span<const Term> terms_of(const Reduction& reduction) const {
    return std::span(terms_).subspan(reduction.first_term, reduction.terms);
  }
  std::span<const Term> terms_of(const Reduction& reduction, std::int64_t turn) const {
    if (reduction.tree.leaves() == 1) return terms_of(reduction);
    const auto first = static_cast<std::size_t>(reduction.group_of(turn)) * reduction.group;
    const auto size = std::min(reduction.group, reduction.terms - first);
    return terms_of(reduction).subspan(first, size);
  }

  bool is_message_as_it_is(const BlockArray& array) const;
  /// Not so the message that is the array's own memory, nor what travels through the window.
  bool is_packed_message(const Stream& stream) const;
  MemorySpace space_of_slots(const BlockArray& array) const;
  std::byte* reserve(ScratchBuffer& memory, std::int64_t bytes, const BlockArray& array) const;
  void finish_copies(const Execution& execution) const;
  void run_jobs(const Execution& execution);
  void rewind();
  void make_pool(const std::vector<Stream>& streams, Pool& pool, ScratchBuffer& memory);
  void make_term_buffers();
  std::int64_t packed_bytes() const;
  static Stream* next_in_turn(std::vector<Stream>& streams, Turns& turns);
  std::size_t add_flight(const Flight& flight);
  const Message& begin_flight(Flight::Kind kind, std::vector<Stream>& streams, Pool& pool,
                              Stream& stream);
  void receive_streams();
  void receive_terms();
  void receive_terms(Reduction& reduction);
  BlockArray arrived_term(const Term& term, std::int64_t turn, const BlockArray& like) const;
  BlockArray partial_result(const Reduction& reduction, int slot, const BlockArray& like) const;
  void send_streams(const Execution& execution);
  void land(const Execution& execution, const Flight& flight);
  void unpack(const Execution& execution, Stream& stream, const Flight& flight);

  void prepare_copies();
  /// Whether there was such a copy for the calling thread.
  static bool run(const Execution& execution, std::optional<PreparedCopy>& copy,
                  const std::byte* source, std::byte* destination, Stores stores);

  bool send_chunks(const Execution& execution, Lanes& lanes);
  bool receive_chunks(const Execution& execution, Lanes& lanes);
  template <class Job, class Pass>
  bool move_by_kernel(const Execution& execution, std::vector<Stream>& streams, const Job& job,
                      const Pass& pass);
  bool send_by_kernel(const Execution& execution, Lanes& lanes);
  bool receive_by_kernel(const Execution& execution, Lanes& lanes);
  bool reduce_chunks(const Execution& execution, Lanes* lanes);
  bool are_terms_here(Reduction& reduction, Lanes* lanes);
  void reduce_next(const Execution& execution, Reduction& reduction, Lanes* lanes);
  void reduce_group(const Execution& execution, Reduction& reduction, const BlockArray& to);
  void reduce_parts(const Execution& execution, ReduceOp op, std::span<const BlockArray> operands,
                    const BlockArray& to, std::int64_t divisor, Stores stores);
  void collect_operands(const Execution& execution, const Reduction& reduction,
                        const BlockArray& result, Lanes* lanes);
  void move_to_space_of(const Execution& execution, const BlockArray& result);
  void add_jobs(const BlockArray& from, const BlockArray& to, Stores stores);
  void copy_chunk(const Execution& execution, const BlockArray& from, const BlockArray& to,
                  Stores stores);
  Scaling scaling_into(const BlockArray& to) const {
    return to.wire().is_scaled ? scaling_ : Scaling{};
  }
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
  bool uses_device_ = false;
  ArrayRef source_;  ///< of the last plan
  ArrayRef destination_;
  Scaling scaling_;  ///< of all plans
  std::vector<Stream> outgoing_;
  std::vector<Stream> incoming_;
  std::vector<OwnBlock> own_;
  std::vector<Term> terms_;
  std::vector<Reduction> reductions_;
  std::size_t left_ = 0;  ///< streams and reductions that are not done
  std::size_t next_own_ = 0;

  bool has_messages_ = false;
  std::byte* term_buffers_ = nullptr;   ///< two for each term of a group
  std::int64_t term_buffer_bytes_ = 0;  ///< of each
  std::byte* partials_ = nullptr;       ///< results of groups
  std::int64_t partial_bytes_ = 0;      ///< of each
  Pool outgoing_pool_;
  Pool incoming_pool_;
  StoreChoices choices_;  ///< of all executions
  TimedPacking packing_;
  Turns outgoing_turns_;
  Turns incoming_turns_;
  std::vector<Flight> flights_;  ///< by id
  std::vector<std::size_t> free_flights_;
  std::vector<Message> posted_;
  std::vector<CopyJob> jobs_;  ///< to pack or to unpack

  std::vector<Stream*> moved_;        ///< by the kernel under way
  std::vector<char> blocked_;         ///< by lane
  std::vector<BlockArray> operands_;  ///< of the reduction under way
  std::vector<ArrayRef> parts_;       ///< of the operands, in one array
};

}  // namespace tessera::detail
