// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// roll and concatenate under all rules.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../support/errors.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"
#include "cases.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

template <class V>
void expect_rolled() {
  const Extents shape{13, 6};
  for (const auto& [mesh, placements] : matrix_cases())
    for (const std::int64_t shift : {0, 1, -2, 5, 13, 40})
      for (const int dim : {0, -1}) {
        const auto x = iota<V>(mesh, placements, shape);
        const Traffic traffic;
        const auto y = roll(x, shift, dim);
        EXPECT_LE(traffic.exchanges(), 1);
        EXPECT_EQ(y.spec(), x.spec());
        const auto d = static_cast<std::size_t>(dim == 0 ? 0 : 1);
        EXPECT_EQ(wrong_piece(y,
                              [&](Extents index) {
                                index[d] = ((index[d] - shift) % shape[d] + shape[d]) % shape[d];
                                return GlobalIndex(shape)(index);
                              }),
                  "")
            << to_string(x.spec()) << " by " << shift << " along " << dim;
      }
}

TEST(Roll, moves_around_the_ends) {
  expect_rolled<Matrix>();
  expect_rolled<LeftMatrix>();
}

TEST(Roll, nothing_travels_along_a_dim_that_is_whole) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {9, 4});
  const Traffic traffic;
  roll(x, 3, 1);
  EXPECT_EQ(traffic.exchanges(), 0);
}

TEST(Roll, of_contributions_and_of_nothing) {
  const auto mesh = mesh_of({world_size()});
  const auto x = from_local(iota_view<Matrix>({5, 4}), mesh, Partial());
  const auto y = roll(x, 2, 0);
  EXPECT_EQ(y.placements(), Placements{Partial()});
  EXPECT_EQ(wrong_piece(reduce_partial(y),
                        [](const Extents& i) {
                          return static_cast<double>(world_size() * ((i[0] + 3) % 5 * 4 + i[1]));
                        }),
            "");
  EXPECT_EQ(roll(zeros<Matrix>(mesh, Shard(0), {0, 4}), 2, 0).shape(), (Extents{0, 4}));
  EXPECT_EQ(invalid_argument_of([&] { roll(x, 1, 2); }).substr(0, 5), "roll:");
}

template <class V>
void expect_joined() {
  for (const auto& [mesh, placements] : matrix_cases())
    for (const int dim : {0, 1}) {
      const auto d = static_cast<std::size_t>(dim);
      std::vector<DTensor<V>> parts;
      Extents shape{7, 5};
      shape[d] = 0;
      for (const std::int64_t extent : {4, 1, 0, 6}) {
        Extents part{7, 5};
        part[d] = extent;
        const auto offset = shape[d];
        parts.push_back(redistribute<V>(redistribute(
            slice(iota<V>(mesh, all_replicate, dim == 0 ? Extents{11, 5} : Extents{7, 11}),
                  dim == 0 ? Range{offset, offset + extent} : Range{0, 7},
                  dim == 1 ? Range{offset, offset + extent} : Range{0, 5}),
            placements)));
        shape[d] += extent;
      }
      const auto whole = concatenate(parts, dim, Target(placements));
      EXPECT_EQ(wrong_iota(whole), "") << to_string(whole.spec()) << dim;
      EXPECT_EQ(whole.placements(), placements);
      const Traffic traffic;
      const auto other =
          concatenate(parts, dim, Target(std::vector<Placement>(placements.size(), Shard(1))));
      EXPECT_LE(traffic.exchanges(), 1);
      EXPECT_EQ(wrong_iota(other), "") << to_string(other.spec()) << dim;
    }
}

TEST(Concatenate, joins_tensors_under_all_rules) {
  expect_joined<Matrix>();
  expect_joined<LeftMatrix>();
}

TEST(Concatenate, of_an_array_has_the_placements_of_the_first_one) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Cyclic(0, 2), {6, 4});
  const auto y = iota<Matrix>(mesh, Shard(1), {3, 4});
  const auto joined = concatenate(std::array{x, y}, 0);
  EXPECT_EQ(joined.placements(), Placements{Cyclic(0, 2)});
  EXPECT_EQ(
      wrong_piece(joined,
                  [](const Extents& i) {
                    return static_cast<double>(i[0] < 6 ? 4 * i[0] + i[1] : 4 * (i[0] - 6) + i[1]);
                  }),
      "");
  const auto sum = from_local(iota_view<Matrix>({3, 4}), mesh, Partial());
  EXPECT_EQ(wrong_piece(concatenate(std::array{y, sum}, -1),
                        [](const Extents& i) {
                          const int times = i[1] < 4 ? 1 : world_size();
                          return static_cast<double>(times * (4 * i[0] + i[1] % 4));
                        }),
            "");
}

TEST(Concatenate, what_does_not_fit_is_an_error) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 4});
  const auto y = iota<Matrix>(mesh, Shard(0), {6, 3});
  EXPECT_EQ(
      invalid_argument_of([&] {
        concatenate(std::array{x, y}, 0);
      }),
      "concatenate: expected tensors whose shapes differ along tensor dim 0 at most, got (6, 4) "
      "and (6, 3)");
  EXPECT_EQ(invalid_argument_of([&] { concatenate(std::vector<DTensor<Matrix>>(), 0); }),
            "concatenate: expected at least 1 tensor, got none");
}

}  // namespace
