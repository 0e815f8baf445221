// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/comm/detail/store_choice.hpp>

namespace tessera::detail {
namespace {

/// Of the cost of a way in use, per sample: a rank that loses its core amid a chunk says nothing
/// about the memory, so the least cost of late counts.
constexpr double largest_growth = 1.1;
/// Chunks that go past the caches leave others less of the memory's speed: they pay if they cost
/// much less.
constexpr double least_gain = 0.8;

}  // namespace

StoreChoice::Next StoreChoice::next() {
  for (const bool streams : {false, true})
    if (way(streams).samples < first_samples) return {streams, true};
  if (++chunks_ < interval_) return {streams_, chunks_ % timing_interval == 0};
  chunks_ = 0;
  return {!streams_, true};
}

void StoreChoice::add(bool streams, double cost) {
  auto& sampled = way(streams);
  const bool is_settled = sampled.samples >= first_samples;
  if (is_settled && streams == streams_)
    sampled.cost = std::min(cost, largest_growth * sampled.cost);
  else
    sampled.cost = sampled.samples == 0 || is_settled ? cost : std::min(cost, sampled.cost);
  if (!is_settled) ++sampled.samples;
  if (way(!streams).samples < first_samples) return;

  const bool is_better = way(true).cost < least_gain * way(false).cost;
  interval_ = is_better != streams_ ? shortest_interval
              : streams != streams_ ? std::min(2 * interval_, longest_interval)
                                    : interval_;
  streams_ = is_better;
}

}  // namespace tessera::detail
