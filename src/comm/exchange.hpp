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

/// A message of MPI: one of the exchange, or a part of one that is cut.
struct Transfer {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  MPI_Request request = MPI_REQUEST_NULL;
  int rank = 0;
  bool is_sent = false;
  bool is_open = false;
  std::size_t next = none;  ///< part of the same message; of free ones, another one
};

}  // namespace detail

/// Point-to-point messages that belong together: the data movement of one step of a plan, in one or
/// more phases.
///
/// They carry the tag of the innermost Operation, so that they only match messages of the same
/// call. Between two ranks, messages match in the order in which they are posted. Sizes are 64-bit;
/// zero bytes are never sent. Buffers must live until the message is complete or, when an exception
/// passes, until the destructor, which cancels receives and waits until the peers have taken what
/// was sent to them (for the time limit; 1 s where a rank is taken for dead, and at
/// Agreement::none); what is under way then needs them for longer, see detail::keeping(). One trace
/// event is emitted at finish().
class Exchange {
 public:
  /// Names a message that is under way.
  using Ticket = std::size_t;

  /// `operation` has static storage; `group_size` is the number of ranks that take part.
  Exchange(const Communicator& communicator, TraceKind kind, const char* operation, int group_size);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Posts a nonblocking receive from `source`, a rank of the communicator. Errors: MpiError.
  Ticket receive(std::byte* data, std::int64_t bytes, int source);
  /// Posts a nonblocking send to `destination`. Errors: MpiError.
  Ticket send(const std::byte* data, std::int64_t bytes, int destination);
  /// Counts what goes by way of a window, as one message each, for the event.
  void count_received(std::int64_t bytes);
  /// The same of what is sent; it counts as packed, too.
  void count_sent(std::int64_t bytes);
  /// Counts what is copied to buffers before it is sent in messages.
  void count_packed(std::int64_t bytes);
  /// Whether a message is complete. Does not wait. Once it is, its ticket is void, and may be given
  /// to another one. Errors: MpiError.
  bool test(Ticket message);
  /// The same for all posted so far, whose tickets stay valid.
  bool test();
  /// Waits for all posted so far (spinning, then yielding). Errors: those of the call that it
  /// belongs to, see collectively(); MpiError.
  void wait();
  /// The same, or until is_enough(); meanwhile() is called where some are complete, and others are
  /// not.
  void wait(const std::function<bool()>& is_enough, const std::function<void()>& meanwhile);
  /// What the last test or wait of all has found of a message that test(Ticket) was not asked for.
  bool is_complete(Ticket message) const;
  /// The ranks whose messages have not arrived, or that have not taken theirs.
  std::vector<int> awaited() const;
  /// Number of messages, or parts of them, that have arrived or were taken.
  std::size_t progress() const { return complete_; }
  /// Once all is complete: emits the event. Call it at most once, on every rank that takes part,
  /// also where it sent nothing.
  void finish();
  /// Cancels what has not been received; for a call that fails.
  void abandon();

 private:
  using Transfer = detail::Transfer;
  static constexpr auto none = Transfer::none;

  template <class Byte>
  Ticket post(Byte* data, std::int64_t bytes, int rank);
  std::size_t free_transfer();
  bool complete(Transfer& transfer);
  void check(int code, const Transfer& transfer);
  void note(const Transfer& transfer);
  void drain();
  void end_early();

  Communicator communicator_;
  bool has_failed_ = false;  ///< as MPI says
  Operation* owner_;
  TraceEvent event_;
  bool is_finished_ = false;
  std::vector<Transfer> transfers_;
  std::size_t free_ = none;  ///< of transfers_; others follow it
  std::size_t open_ = 0;     ///< of transfers_
  std::size_t complete_ = 0;
  bool is_abandoned_ = false;
};

}  // namespace tessera
