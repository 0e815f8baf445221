// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include "plan/chunking.hpp"

namespace {

using namespace tessera;
using tessera::detail::Chunking;

std::vector<Box> chunks_of(const Chunking& chunking) {
  std::vector<Box> result;
  for (std::int64_t k = 0; k < chunking.chunks(); ++k) result.push_back(chunking.chunk(k));
  return result;
}

TEST(Chunking, what_fits_is_one_chunk) {
  EXPECT_EQ(chunks_of(Chunking({2, 3}, 8, 48)), (std::vector<Box>{{{0, 0}, {2, 3}}}));
  EXPECT_EQ(chunks_of(Chunking({}, 8, 8)), (std::vector<Box>{{{}, {}}}));
}

TEST(Chunking, rows_are_divided_evenly) {
  EXPECT_EQ(chunks_of(Chunking({5, 3}, 8, 4 * 24)),
            (std::vector<Box>{{{0, 0}, {3, 3}}, {{3, 0}, {2, 3}}}));
}

TEST(Chunking, dims_before_the_one_that_is_divided_go_one_by_one) {
  EXPECT_EQ(chunks_of(Chunking({2, 10, 4}, 1, 16)), (std::vector<Box>{{{0, 0, 0}, {1, 4, 4}},
                                                                      {{0, 4, 0}, {1, 4, 4}},
                                                                      {{0, 8, 0}, {1, 2, 4}},
                                                                      {{1, 0, 0}, {1, 4, 4}},
                                                                      {{1, 4, 0}, {1, 4, 4}},
                                                                      {{1, 8, 0}, {1, 2, 4}}}));
}

TEST(Chunking, element_larger_than_the_limit_travels_alone) {
  EXPECT_EQ(Chunking({2, 3}, 100, 8).chunks(), 6);
}

TEST(Chunking, chunks_cover_every_element_once_within_the_limit) {
  for (const auto& shape :
       std::vector<Extents>{{1}, {7}, {64}, {3, 1, 5}, {2, 17, 3}, {4, 4, 4, 4}})
    for (std::int64_t most = 1; most < 70; ++most) {
      std::vector<int> count(static_cast<std::size_t>(product(shape)));
      for (const auto& box : chunks_of(Chunking(shape, 1, most))) {
        EXPECT_LE(box.size(), most);
        const auto strides = row_major_strides(shape);
        Extents index = Extents::filled(shape.size(), 0);
        for (std::int64_t k = 0; k < box.size(); ++k) {
          std::int64_t position = 0;
          for (std::size_t d = 0; d < shape.size(); ++d)
            position += (box.offset[d] + index[d]) * strides[d];
          ++count[static_cast<std::size_t>(position)];
          for (std::size_t d = shape.size(); d-- > 0;) {
            if (++index[d] < box.shape[d]) break;
            index[d] = 0;
          }
        }
      }
      EXPECT_EQ(count, std::vector<int>(count.size(), 1)) << to_string(shape) << " by " << most;
    }
}

}  // namespace
