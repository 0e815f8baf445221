// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute and fetch: memory that executions use again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/view_traits.hpp>
#include <tessera/tensor/execution.hpp>

#include "comm/exchange.hpp"
#include "engine/phase_run.hpp"

namespace tessera::detail {

/// Reusable memory that only grows. What was in it is lost when it does.
class ScratchBuffer {
 public:
  std::byte* reserve(std::int64_t bytes, MemorySpace space);
  /// Host memory that a device reads and writes directly.
  std::byte* reserve_pinned(std::int64_t bytes);

 private:
  using HostBytes = Kokkos::View<std::byte*, Kokkos::HostSpace>;
  using PinnedBytes = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;
  using DeviceBytes = Kokkos::View<std::byte*, Kokkos::DefaultExecutionSpace::memory_space>;

  ViewHolder<HostBytes> host_;
  ViewHolder<PinnedBytes> pinned_;
  ViewHolder<DeviceBytes> device_;
};

/// A message that is under way.
struct UnderWay {
  Exchange::MessageId ticket;
  std::size_t id;  ///< in the phase
};

/// What one execution of a plan needs besides source and destination.
struct Scratch {
  ScratchBuffer outgoing;                     ///< packed blocks
  ScratchBuffer incoming;                     ///< and those to unpack
  ScratchBuffer arriving_terms;               ///< of reductions, as messages
  ScratchBuffer moved_terms;                  ///< to the space of their results
  ScratchBuffer partial_results;              ///< of branches whose other terms have not come
  std::array<ScratchBuffer, 2> intermediate;  ///< pieces between two phases, in turn
  ScratchBuffer source;                       ///< copy of a source that the destination overlaps
  std::vector<PhaseRun> phases;               ///< where the plans keep none
  std::vector<ArrayRef> pieces;               ///< by plan, before the phase under way
  std::vector<ArrayRef> results;              ///< and after it
  std::vector<UnderWay> under_way;            ///< messages of the phase
  std::vector<std::size_t> complete;          ///< ids of messages
  ViewHolder<Execution> user;                 ///< who used it last

  /// Waits for the last user if it was another instance.
  void hand_over(const Execution& execution);
};

}  // namespace tessera::detail
