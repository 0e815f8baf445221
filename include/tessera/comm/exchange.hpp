// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include <tessera/comm/communicator.hpp>
#include <tessera/comm/trace.hpp>

namespace tessera {

class Operation;

/// Point-to-point messages that belong together: the data movement of one step of a plan, in one or
/// more phases.
///
/// They carry the tag of the innermost Operation, so that they only match messages of the same call.
/// Between two ranks, messages match in the order in which they are posted. Sizes are 64-bit; zero
/// bytes are never sent. Buffers must live until wait() or, when an exception passes, until the
/// destructor, which cancels receives and waits until the peers have taken what was sent to them
/// (for the time limit; 1 s where a rank is taken for dead). One trace event is emitted at finish().
class Exchange {
 public:
  /// `operation` has static storage; `group_size` is the number of ranks that take part.
  Exchange(const Communicator& communicator, TraceKind kind, const char* operation, int group_size);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Posts a nonblocking receive from `source`, a rank of the communicator. Errors: MpiError.
  void receive(std::byte* data, std::int64_t bytes, int source);
  /// Posts a nonblocking send to `destination`. Errors: MpiError.
  void send(const std::byte* data, std::int64_t bytes, int destination);
  /// Counts what goes by way of a window, as one message each, for the event.
  void count_received(std::int64_t bytes);
  void count_sent(std::int64_t bytes);
  /// Whether all posted so far are complete. Does not wait. Errors: MpiError.
  bool test();
  /// Waits for all posted so far (spinning, then yielding). Errors: those of the call that it
  /// belongs to, see collectively(); MpiError.
  void wait();
  /// The ranks whose messages have not arrived, or that have not taken theirs.
  std::vector<int> awaited() const;
  /// Number of messages that have arrived or were taken since the last wait().
  std::size_t progress() const { return received_ + sent_; }
  /// Once all is complete: emits the event. Call it at most once, on every rank that takes part,
  /// also where it sent nothing.
  void finish();
  /// Cancels what has not been received; for a call that fails.
  void abandon();

 private:
  struct Transfer {
    MPI_Request request;
    int rank;
  };
  template <class Byte>
  void post(Byte* data, std::int64_t bytes, int rank, std::vector<Transfer>& transfers);
  bool test(std::vector<Transfer>& transfers, std::size_t& complete);
  void book();
  void drain();

  Communicator communicator_;
  Operation* owner_;
  TraceEvent event_;
  double start_;
  std::vector<Transfer> receives_;
  std::vector<Transfer> sends_;
  std::size_t received_ = 0;
  std::size_t sent_ = 0;
  bool is_abandoned_ = false;
};

}  // namespace tessera
