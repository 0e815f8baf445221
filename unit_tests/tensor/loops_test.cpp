// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include <tessera/tensor/detail/loops.hpp>

namespace tessera::test {
namespace {

using detail::DeviceLoops;
using detail::Divisor;

constexpr auto largest = std::numeric_limits<std::int64_t>::max();

TEST(Divisor, gives_the_quotients_of_a_division) {
  std::mt19937_64 generator(1);
  const auto up_to = [&](int bits) {
    return static_cast<std::int64_t>(generator() >> (64 - bits));
  };
  for (int repeat = 0; repeat < 200000; ++repeat) {
    const auto d = std::max(std::int64_t{1}, up_to(1 + repeat % 63));
    const auto n = up_to(1 + repeat / 63 % 63);
    const auto multiple = n / d * d;
    for (const auto number : {n, multiple, multiple == 0 ? 0 : multiple - 1})
      ASSERT_EQ(Divisor(d).quotient(number), number / d) << number << " / " << d;
  }
}

TEST(Divisor, holds_at_the_ends_of_what_numbers_can_be) {
  const std::int64_t middle = std::int64_t{1} << 62;
  for (const std::int64_t d :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{1} << 31,
        (std::int64_t{1} << 32) - 1, (std::int64_t{1} << 32) + 1, middle - 1, middle, middle + 1,
        largest - 1, largest})
    for (const std::int64_t n :
         {std::int64_t{0}, std::int64_t{1}, d - 1, d, middle, largest - 1, largest})
      EXPECT_EQ(Divisor(d).quotient(n), n / d) << n << " / " << d;
}

TEST(DeviceLoops, visit_the_indices_of_all_items_in_row_major_order) {
  const DeviceLoops loops(Extents{3, 1, 5}, 4);
  ASSERT_EQ(loops.items(), 60);
  for (std::int64_t item = 0; item < 60; ++item) {
    std::int64_t number = 0;
    const std::int64_t strides[] = {20, 20, 4, 1};
    loops.at(item, [&](int d, std::int64_t index) { number += index * strides[d]; });
    EXPECT_EQ(number, item);
  }
}

TEST(DeviceLoops, of_no_dims_have_one_item) {
  const DeviceLoops loops{Extents{}};
  EXPECT_EQ(loops.items(), 1);
  loops.at(0, [](int, std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace tessera::test
