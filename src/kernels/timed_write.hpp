// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: copies into a window that choose the kind of store by time.
#pragma once

#include <cstdint>

#include <tessera/tensor/memory_space.hpp>

#include "kernels/pack.hpp"
#include "node/store_choice.hpp"

namespace tessera::detail {

/// Which stores take less time, by what is written.
struct StoreChoices {
  StoreChoice pack{0.95};  ///< that of the whole phase, of which packing is a part
  StoreChoice unpack{0.9};
  StoreChoice own{0.9};
  StoreChoice reduce{0.9};
};

/// How the messages of a phase are packed. Large ones that another core fetches may be read faster
/// from memory than from this one's caches; which way serves the phase better shows after some
/// executions.
class TimedPacking {
 public:
  /// `bytes`: of all messages that are packed.
  void begin(std::int64_t bytes, StoreChoice& choice);
  /// Once the phase is complete.
  void end(StoreChoice& choice);

  Stores stores() const { return stores_; }

 private:
  Stores stores_ = Stores::cached;
  double since_ = 0;  ///< 0: not timed
};

/// While a part of a destination is written: past the caches, or through them where that took less
/// time of late. Where the caches hold neither side, the first way takes half of the time of the
/// second one; where they hold both, more.
class TimedWrite {
 public:
  /// `usual`: for parts that are too small for a choice, and where it is not cached. Only parts on
  /// the host are chosen for.
  TimedWrite(MemorySpace space, std::int64_t bytes, Stores usual, StoreChoice& choice);
  /// The same for bytes on the host. `if_few`: where they are too few for a choice.
  TimedWrite(std::int64_t bytes, StoreChoice& choice, Stores if_few = Stores::cached);
  /// Tells the choice what it took.
  ~TimedWrite();
  TimedWrite(const TimedWrite&) = delete;
  TimedWrite& operator=(const TimedWrite&) = delete;

  Stores stores() const { return stores_; }

 private:
  void choose();

  StoreChoice& choice_;
  std::int64_t bytes_;
  Stores stores_;
  double since_ = 0;  ///< 0: not timed
};

}  // namespace tessera::detail
