// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "node/store_choice.hpp"

namespace tessera::detail {

void StoreChoice::Way::add(double cost) {
  costs[next] = cost;
  next = (next + 1) % costs.size();
  samples = std::min<int>(samples + 1, std::ssize(costs));
}

double StoreChoice::Way::cost() const {
  return *std::min_element(costs.begin(), costs.begin() + samples);
}

StoreChoice::Next StoreChoice::next() {
  for (const bool streams : {false, true})
    if (way(streams).samples < first_samples) return {streams, true};
  if (left_to_warm_ > 0) return {false, --left_to_warm_ == 0};
  if (++chunks_ < interval_) return {streams_, chunks_ % timing_interval == 0};
  chunks_ = 0;
  if (!streams_) return {true, true};
  left_to_warm_ = chunks_to_warm;
  return {false, false};
}

void StoreChoice::add(bool streams, double cost) {
  if (!streams && left_to_warm_ > 0) return;
  auto& sampled = way(streams);
  const bool is_trial = streams != streams_ && sampled.samples >= first_samples;
  // What it has cost long ago no longer counts.
  if (is_trial) sampled.costs.fill(cost);
  sampled.add(cost);
  if (way(!streams).samples < first_samples) return;

  const bool is_better = way(true).cost() < least_gain_ * way(false).cost();
  interval_ = is_better != streams_ ? shortest_interval
              : streams != streams_ ? std::min(2 * interval_, longest_interval)
                                    : interval_;
  streams_ = is_better;
}

}  // namespace tessera::detail
