// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine, redistribute and debug: messages of one exchange, posted, tested and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <mpi.h>

#include <tessera/comm/communicator.hpp>
#include <tessera/mpi/trace.hpp>

namespace tessera {

class Operation;

namespace detail {

/// A Segment is one message of MPI: a message of the exchange, or a part of a longer one.
struct Segment {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  MPI_Request request = MPI_REQUEST_NULL;
  int rank = 0;
  bool is_sent = false;
  bool is_open = false;
  std::size_t next = none;  ///< next segment of the message; in a free Segment the next free one
};

}  // namespace detail

/// An Exchange holds point-to-point messages that belong together: the data movement of one step of
/// a plan, in one or more phases.
///
/// The messages carry the tag of the innermost Operation, so that they match only messages of the
/// same call. Between two ranks, messages match in the order in which they are posted. Sizes are
/// 64-bit; zero bytes are never sent. One trace event is emitted at finish().
///
/// Buffers must live until the message is complete or, if an exception passes, until the destructor
/// returns. The destructor cancels receives and waits until the peers have taken what was sent to
/// them. It waits for at most the time limit, or 1 s if a rank is taken for dead or the level is
/// Agreement::none. Messages that are still under way then need their buffers for longer, see
/// detail::keeping().
class Exchange {
 public:
  /// Identifies a message that is under way.
  using MessageId = std::size_t;

  /// Begins an exchange. `operation` has static storage; `group_size` is the number of ranks that
  /// take part.
  Exchange(const Communicator& communicator, TraceKind kind, const char* operation, int group_size);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Posts a nonblocking receive from `source`, a rank of the communicator. Errors: MpiError.
  MessageId receive(std::byte* data, std::int64_t bytes, int source);
  /// Posts a nonblocking send to `destination`. Errors: MpiError.
  MessageId send(const std::byte* data, std::int64_t bytes, int destination);
  /// Counts bytes received through a window, as one message, for the trace event.
  void count_received(std::int64_t bytes);
  /// Counts bytes sent through a window, as one message and as packed, for the trace event.
  void count_sent(std::int64_t bytes);
  /// Counts bytes that are copied to buffers before they are sent in messages.
  void count_packed(std::int64_t bytes);
  /// Returns whether a message is complete, without waiting. After true, its id is void and may be
  /// given to another message. Errors: MpiError.
  bool test(MessageId message);
  /// Returns whether all messages posted so far are complete. Their ids stay valid.
  bool test();
  /// Waits for all messages posted so far (spinning, then yielding). Errors: MpiError, and those of
  /// the call that the exchange belongs to, see collectively().
  void wait();
  /// Waits until all messages are complete or is_enough() is true. Calls meanwhile() whenever some
  /// messages have completed while others have not.
  void wait(const std::function<bool()>& is_enough, const std::function<void()>& meanwhile);
  /// Returns whether the last test() or wait() found this message complete. Not for a message that
  /// test(MessageId) was asked for.
  bool is_complete(MessageId message) const;
  /// Returns the ranks whose messages have not arrived, or that have not taken the messages sent to
  /// them.
  std::vector<int> awaited() const;
  /// Returns the number of messages, or segments of them, that have arrived or were taken.
  std::size_t progress() const { return complete_; }
  /// Waits for all messages, then emits the trace event. Call it at most once, on every rank that
  /// takes part, also on one that sent nothing.
  void finish();
  /// Cancels the receives that are not complete; for a call that fails.
  void abandon();

 private:
  using Segment = detail::Segment;
  static constexpr auto none = Segment::none;

  template <class Byte>
  MessageId post(Byte* data, std::int64_t bytes, int rank);
  std::size_t free_segment();
  bool complete(Segment& segment);
  void check(int code, const Segment& segment);
  void note(const Segment& segment);
  void drain();
  void end_early();

  Communicator communicator_;
  bool has_failed_ = false;  ///< MPI has reported an error
  Operation* owner_;
  TraceEvent event_;
  bool is_finished_ = false;
  std::vector<Segment> segments_;
  std::size_t free_ = none;  ///< first free entry of segments_; others follow it
  std::size_t open_ = 0;     ///< number of segments_ under way
  std::size_t complete_ = 0;
  bool is_abandoned_ = false;
};

}  // namespace tessera
