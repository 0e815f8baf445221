// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/comm/detail/store_choice.hpp>
#include <tessera/redistribute/detail/pack.hpp>

namespace tessera::detail {

/// While a part of a destination is written: past the caches, or through them where that took less
/// time of late. Where the caches hold neither side, the first way takes half of the time of the
/// second one; where they hold both, more.
class TimedWrite {
 public:
  /// `usual`: for parts that are too small for a choice, and where it is not cached. Only parts on
  /// the host are chosen for.
  TimedWrite(const ArrayRef& part, Stores usual, StoreChoice& choice);
  /// Tells the choice what it took.
  ~TimedWrite();
  TimedWrite(const TimedWrite&) = delete;
  TimedWrite& operator=(const TimedWrite&) = delete;

  Stores stores() const { return stores_; }

 private:
  StoreChoice& choice_;
  double bytes_;
  Stores stores_;
  double since_ = 0;  ///< 0: not timed
};

}  // namespace tessera::detail
