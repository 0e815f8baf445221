// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/extents/hash.hpp>

namespace tessera {
namespace {

TEST(HashCombine, is_another_one_the_other_way_round) {
  for (std::uint64_t a = 0; a < 100; ++a)
    for (std::uint64_t b = 0; b < a; ++b) EXPECT_NE(hash_combine(a, b), hash_combine(b, a));

  const auto source = hash_combine(1, 2);
  const auto target = hash_combine(3, 4);
  EXPECT_NE(hash_combine(source, target), hash_combine(target, source));
}

TEST(HashRange, tells_all_short_lists_of_small_numbers_apart) {
  std::set<std::uint64_t> seen;
  std::size_t lists = 0;
  for (int a = -1; a < 12; ++a)
    for (int b = -1; b < 12; ++b)
      for (int c = -1; c < 12; ++c) {
        std::vector<int> list;
        for (const int number : {a, b, c})
          if (number >= 0) list.push_back(number);
        if (seen.insert(hash_range(0, list)).second) ++lists;
      }

  EXPECT_EQ(lists, 1U + 12U + 12U * 12U + 12U * 12U * 12U);
}

}  // namespace
}  // namespace tessera
