// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/comm/detail/store_choice.hpp>

namespace tessera::detail {
namespace {

/// Of a sample in the mean of a way that is in use.
constexpr double weight = 0.25;
/// A rank that loses its core amid a chunk says nothing about the memory.
constexpr double largest_growth = 2;

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
    sampled.cost += weight * (std::min(cost, largest_growth * sampled.cost) - sampled.cost);
  else
    sampled.cost = sampled.samples == 0 || is_settled ? cost : std::min(cost, sampled.cost);
  if (!is_settled) ++sampled.samples;
  if (way(!streams).samples < first_samples) return;

  const bool is_better = way(true).cost < way(false).cost;
  interval_ = is_better != streams_ ? shortest_interval
              : streams != streams_ ? std::min(2 * interval_, longest_interval)
                                    : interval_;
  streams_ = is_better;
}

}  // namespace tessera::detail
