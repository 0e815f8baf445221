// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tensor/detail/huge_pages.hpp>

namespace tessera::detail {
namespace {

bool are_all(std::span<const unsigned char> bytes, unsigned char value) {
  return std::ranges::all_of(bytes, [=](unsigned char byte) { return byte == value; });
}

TEST(HugePages, of_memory_that_is_renewed_leave_its_neighbours_alone) {
  constexpr auto page = static_cast<std::size_t>(huge_page_bytes);
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}, page / 2, page - 1})
    for (const std::size_t bytes : {std::size_t{0}, page - 1, page, 2 * page, 3 * page + 5}) {
      std::vector<unsigned char> memory(5 * page, 7);
      const std::span all(memory);

      renew_as_huge_pages(memory.data() + first, bytes);

      EXPECT_TRUE(are_all(all.first(first), 7)) << first << ' ' << bytes;
      EXPECT_TRUE(are_all(all.subspan(first + bytes), 7)) << first << ' ' << bytes;
      std::ranges::fill(all.subspan(first, bytes), 9);
      EXPECT_TRUE(are_all(all.subspan(first, bytes), 9)) << first << ' ' << bytes;
    }
}

}  // namespace
}  // namespace tessera::detail
