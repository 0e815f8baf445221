// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For kernels and engine: learns which kind of store is faster.
#pragma once

#include <array>
#include <cstddef>

namespace tessera::detail {

/// Whether chunks for one reader (or all messages of one plan) had better be written past the
/// caches, by what both ways cost of late.
///
/// Cores that share a cache hand chunks over fastest through it. Between others, reading what a
/// core has just written may take three times as long as reading it from memory. Which holds can
/// change while a program runs, with the cores that it runs on: now and then the other way is
/// tried.
class StoreChoice {
 public:
  struct Next {
    bool streams;
    bool is_timed;  ///< whether add() shall be told what it costs
  };
  /// Past the caches where that costs less than this part of the other way: what is written so
  /// leaves others less of the memory's speed, and who reads it next finds it in no cache.
  explicit StoreChoice(double least_gain = 0.8) : least_gain_(least_gain) {}
  /// The way of the next chunk.
  Next next();
  /// `cost`: of a chunk that went this way, to writer and reader together, per byte. Whether next()
  /// asked for it or not.
  void add(bool streams, double cost);

 private:
  static constexpr int first_samples = 2;
  static constexpr int timing_interval = 4;
  static constexpr int shortest_interval = 16;
  static constexpr int longest_interval = 256;
  /// Memory that was streamed to lies in no cache: so many chunks are written there before the next
  /// one says what that way costs.
  static constexpr int chunks_to_warm = 2;

  /// A rank that loses its core amid a chunk says nothing about the memory: the least of the last
  /// costs counts.
  struct Way {
    std::array<double, 3> costs = {};
    std::size_t next = 0;  ///< to be replaced
    int samples = 0;       ///< in it

    void add(double cost);
    double cost() const;
  };

  Way& way(bool streams) { return ways_[streams ? 1 : 0]; }

  double least_gain_;
  std::array<Way, 2> ways_;
  bool streams_ = false;  ///< the better way
  int interval_ = shortest_interval;
  int chunks_ = 0;  ///< since the other way was tried
  int left_to_warm_ = 0;
};

}  // namespace tessera::detail
