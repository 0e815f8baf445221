// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "rivals.hpp"

namespace tessera::perf {

/// Redistributes from Partial to Shard by point-to-point messages. The ranks exchange one chunk of
/// their contributions while they add up the chunk before, which is still in cache. The target
/// piece is contiguous.
class ChunkedSum {
 public:
  /// Prepares messages of at most `chunk` elements.
  ChunkedSum(Workspace& workspace, const Blocks& blocks, double* piece, std::int64_t chunk,
             Waits waits);

  void operator()();

 private:
  struct Slot {
    double* outgoing = nullptr;
    double* incoming = nullptr;
    std::vector<MPI_Request> requests;
  };

  void place_slots();
  void post(std::int64_t index);
  void receive(std::int64_t index, Slot& slot) const;
  void send(std::int64_t index, Slot& slot) const;
  void add(std::int64_t index);

  Interval chunk(const Block& block, std::int64_t index) const;
  const Block& own() const { return blocks_.outgoing[blocks_.self()]; }

  Workspace* workspace_;
  Blocks blocks_;
  double* piece_;
  std::int64_t chunk_;
  std::int64_t chunks_ = 0;
  Waits waits_;
  std::array<Slot, 2> slots_;
};

}  // namespace tessera::perf
