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

/// Point-to-point messages that belong together: the data movement of one step of a plan, in one or
/// more phases.
///
/// Between two ranks, messages match in the order in which they are posted. Sizes are 64-bit; zero
/// bytes are never sent. Buffers must live until wait() or, when an exception passes, until the
/// destructor, which cancels receives and completes sends (for at most 10 s: then the peers are
/// taken for dead). One trace event is emitted at finish().
class Exchange {
 public:
  /// `operation` has static storage; `group_size` is the number of ranks that take part.
  Exchange(const Communicator& communicator, TraceKind kind, const char* operation, int group_size);
  /// For the collectives of the library: under another tag than tensor data, see detail/tags.hpp.
  Exchange(const Communicator& communicator, TraceKind kind, const char* operation, int group_size,
           int tag);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Posts a nonblocking receive from `source`, a rank of the communicator. Errors: MpiError.
  void receive(std::byte* data, std::int64_t bytes, int source);
  /// Posts a nonblocking send to `destination`. Errors: MpiError.
  void send(const std::byte* data, std::int64_t bytes, int destination);
  /// Waits for all posted so far (spinning, then yielding). Errors: MpiError.
  void wait();
  /// wait(), then emits the event. Call it at most once, on every rank that takes part, also where
  /// it sent nothing.
  void finish();

 private:
  Communicator communicator_;
  int tag_;
  TraceEvent event_;
  double start_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
};

}  // namespace tessera
