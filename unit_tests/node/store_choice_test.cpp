// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "node/store_choice.hpp"

namespace {

using tessera::detail::StoreChoice;

/// How many of `chunks` chunks go past the caches, where the two ways cost this much.
int streamed(StoreChoice& choice, int chunks, double cached_cost, double streaming_cost) {
  int result = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const auto [streams, is_timed] = choice.next();
    result += streams ? 1 : 0;
    if (is_timed) choice.add(streams, streams ? streaming_cost : cached_cost);
  }
  return result;
}

TEST(StoreChoice, takes_the_cheaper_way) {
  StoreChoice shared_cache;
  EXPECT_LE(streamed(shared_cache, 1000, 1.0, 1.2), 20);

  StoreChoice apart;
  EXPECT_GE(streamed(apart, 1000, 3.0, 1.2), 980);
}

TEST(StoreChoice, stays_in_the_cache_where_the_gain_is_small) {
  StoreChoice choice;

  EXPECT_LE(streamed(choice, 1000, 1.0, 0.9), 20);
}

TEST(StoreChoice, follows_a_change) {
  StoreChoice choice;
  streamed(choice, 10000, 1.0, 1.2);

  EXPECT_GE(streamed(choice, 1000, 3.0, 1.2), 950);
  streamed(choice, 10000, 3.0, 1.2);
  EXPECT_LE(streamed(choice, 1000, 1.0, 1.2), 300);
}

TEST(StoreChoice, gives_caches_time_to_fill_before_it_judges_by_them) {
  StoreChoice choice;
  int cached = 0;  // in a row
  int streamed = 0;
  for (int chunk = 0; chunk < 1000; ++chunk) {
    const auto [streams, is_timed] = choice.next();
    const double cost = streams ? 2.0 : cached < 2 ? 4.0 : 1.0;
    cached = streams ? 0 : cached + 1;
    streamed += streams ? 1 : 0;
    choice.add(streams, cost);
  }

  EXPECT_LE(streamed, 50);
}

TEST(StoreChoice, tries_the_other_way_ever_more_rarely) {
  StoreChoice choice;
  streamed(choice, 10000, 1.0, 3.0);

  EXPECT_LE(streamed(choice, 10000, 1.0, 3.0), 10000 / 200);
}

TEST(StoreChoice, is_not_misled_by_a_rank_that_lost_its_core) {
  StoreChoice choice;
  streamed(choice, 1000, 1.0, 1.4);
  choice.add(false, 1000.0);

  EXPECT_LE(streamed(choice, 100, 1.0, 1.4), 2);
}

}  // namespace
