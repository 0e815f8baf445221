// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/overlap.hpp"

namespace tessera::detail {
namespace {

std::array<std::byte, 1 << 16> memory;

ArrayRef array_at(std::int64_t byte, const Extents& extents, const Extents& strides,
                  std::int32_t size = 8) {
  return {memory.data() + (1 << 15) + byte,
          {ElementKind::opaque, size},
          extents,
          strides,
          MemorySpace::host};
}

std::vector<std::int64_t> bytes_of(const ArrayRef& array) {
  std::vector<std::int64_t> bytes;
  Extents index = Extents::filled(array.extents.size(), 0);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    std::int64_t element = array.data - memory.data();
    for (std::size_t d = 0; d < index.size(); ++d)
      element += index[d] * array.strides[d] * array.type.size;
    for (int byte = 0; byte < array.type.size; ++byte) bytes.push_back(element + byte);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < array.extents[d]) break;
      index[d] = 0;
    }
  }
  return bytes;
}

TEST(ShareMemory, parts_of_one_matrix_do_where_they_have_an_element_in_common) {
  const auto matrix = array_at(0, {10, 20}, {20, 1});
  const auto even = array_at(0, {10, 10}, {20, 2});
  const auto odd = array_at(8, {10, 10}, {20, 2});
  const auto upper = array_at(0, {5, 20}, {20, 1});
  const auto lower = array_at(8 * 100, {5, 20}, {20, 1});
  const auto left = array_at(0, {10, 7}, {20, 1});
  const auto right = array_at(8 * 7, {10, 13}, {20, 1});

  EXPECT_TRUE(share_memory(matrix, matrix));
  EXPECT_TRUE(share_memory(matrix, even));
  EXPECT_FALSE(share_memory(even, odd));
  EXPECT_FALSE(share_memory(upper, lower));
  EXPECT_FALSE(share_memory(left, right));
  EXPECT_TRUE(share_memory(right, odd));
  EXPECT_FALSE(share_memory(array_at(0, {1, 10}, {20, 2}), odd));
}

TEST(ShareMemory, elements_that_overlap_in_part_do) {
  EXPECT_TRUE(share_memory(array_at(0, {4}, {1}), array_at(28, {4}, {1})));
  EXPECT_FALSE(share_memory(array_at(0, {4}, {1}), array_at(32, {4}, {1})));
  EXPECT_TRUE(share_memory(array_at(0, {4}, {2}), array_at(12, {1}, {1})));
  EXPECT_FALSE(share_memory(array_at(0, {4}, {2}), array_at(8, {4}, {2})));
}

TEST(ShareMemory, nothing_without_elements_and_nothing_in_another_memory_space) {
  const auto some = array_at(0, {4}, {1});
  auto on_device = some;
  on_device.space = MemorySpace::device;

  EXPECT_FALSE(share_memory(some, array_at(0, {0}, {1})));
  EXPECT_FALSE(share_memory(some, on_device));
}

TEST(SharesMemoryWithItself, an_array_of_stride_0_and_one_whose_rows_overlap) {
  EXPECT_FALSE(shares_memory_with_itself(array_at(0, {5, 6}, {6, 1})));
  EXPECT_FALSE(shares_memory_with_itself(array_at(0, {5, 6}, {1, 5})));
  EXPECT_FALSE(shares_memory_with_itself(array_at(0, {1, 6}, {0, 1})));
  EXPECT_FALSE(shares_memory_with_itself(array_at(0, {2, 3}, {3, 2})));
  EXPECT_TRUE(shares_memory_with_itself(array_at(0, {4, 5}, {0, 1})));
  EXPECT_TRUE(shares_memory_with_itself(array_at(0, {5, 6}, {5, 1})));
  EXPECT_FALSE(shares_memory_with_itself(array_at(0, {3, 3}, {3, 2})));
  EXPECT_TRUE(shares_memory_with_itself(array_at(0, {3, 4}, {3, 2})));
}

TEST(ShareMemory, agrees_with_the_bytes_of_random_arrays) {
  std::mt19937 generator(1);
  const auto random_array = [&](std::int32_t size) {
    Extents extents;
    Extents strides;
    for (auto dims = 1 + generator() % 3; dims > 0; --dims) {
      extents.push_back(1 + static_cast<std::int64_t>(generator() % 5));
      strides.push_back(static_cast<std::int64_t>(generator() % 25) - 12);
    }
    const auto begin = static_cast<std::int64_t>(generator() % 400);
    return array_at(begin, extents, strides, size);
  };
  for (int i = 0; i < 4'000; ++i) {
    const auto size = generator() % 2 == 0 ? 4 : 8;
    const auto a = random_array(size);
    const auto b = random_array(size);
    const auto of_a = bytes_of(a);
    const auto of_b = bytes_of(b);
    const std::set<std::int64_t> all_of_a(of_a.begin(), of_a.end());
    const bool is_shared = std::ranges::any_of(
        of_b, [&](std::int64_t byte) { return all_of_a.find(byte) != all_of_a.end(); });

    EXPECT_EQ(share_memory(a, b), is_shared);
    EXPECT_EQ(share_memory(a, b), share_memory(b, a));
    EXPECT_EQ(shares_memory_with_itself(a), all_of_a.size() != of_a.size());
  }
}

}  // namespace
}  // namespace tessera::detail
