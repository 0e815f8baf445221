// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "rivals.hpp"

namespace tessera::perf {

/// Partial to Shard by point-to-point messages: ranks exchange a chunk of their terms while they
/// add the one before, which is still in cache. The piece of the target is contiguous.
class ChunkedSum {
 public:
  /// `chunk` elements at a time.
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
