// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
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
void expect_reshaped(const Extents& from) {
  for (const auto& [mesh, placements] : matrix_cases()) {
    const auto x = iota<V>(mesh, placements, from);
    const auto name = to_string(x.spec());
    const auto n = product(from);
    const auto check = [&](const auto& y) {
      EXPECT_EQ(wrong_iota(y), "") << name << " to " << to_string(y.spec());
    };
    const Traffic traffic;
    check(reshape(x, {n}));
    EXPECT_LE(traffic.exchanges(), 1);
    check(reshape(x, {n, 1}));
    check(reshape(x, {std::int64_t{1}, n}));
    check(reshape(x, {from[1], from[0]}));
    check(reshape(x, {from[0], from[1]}));
    check(reshape(x, {std::int64_t{2}, from[0] / 2, from[1]}));
    check(reshape(x, {from[0], std::int64_t{-1}, std::int64_t{3}}));
    check(reshape(x, {std::int64_t{3}, std::int64_t{2}, std::int64_t{-1}}));
    check(reshape(reshape(x, {n}), {from[0], from[1]}));
  }
}

TEST(Reshape, keeps_the_order_of_elements_under_all_rules) {
  for (const auto& from : {Extents{12, 6}, Extents{6, 9}, Extents{2, 3}, Extents{24, 30}}) {
    expect_reshaped<Matrix>(from);
    expect_reshaped<LeftMatrix>(from);
  }
}

TEST(Reshape, nothing_travels_where_rows_stay_whole) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null() || !is_on(mesh)) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 4});
  const Traffic traffic;
  const auto list = reshape(x, {24});
  const auto other = reshape(x, {3, 8});
  EXPECT_EQ(traffic.exchanges(), world_size() > 1 ? 1 : 0);
  EXPECT_EQ(list.placements(), Placements{Shard(0)});
  EXPECT_EQ(wrong_iota(list), "");
  EXPECT_EQ(wrong_iota(other), "");
  const Traffic none;
  const auto again = reshape(list, {2, 3, 4});
  const auto same = reshape(iota<Matrix>(mesh, Cyclic(1, 2), {6, 8}), {2, 3, 8});
  EXPECT_EQ(none.exchanges(), 0);
  EXPECT_EQ(wrong_iota(again), "");
  EXPECT_EQ(same.placements(), Placements{Cyclic(2, 2)});
  EXPECT_EQ(wrong_iota(same), "");
}

TEST(Reshape, of_numbers_of_contributions_and_of_nothing) {
  const auto mesh = mesh_of({world_size()});
  using Scalar = Kokkos::View<double, TestSpace>;
  const auto number = full<Scalar>(mesh, Replicate(), {}, 3.0);
  EXPECT_EQ(wrong_piece(reshape(number, {1, 1}), [](const Extents&) { return 3.0; }), "");
  const auto sum = from_local(iota_view<Matrix>({4, 6}), mesh, Partial());
  const auto flat = reshape(sum, {24});
  EXPECT_EQ(flat.placements(), Placements{Partial()});
  EXPECT_EQ(wrong_iota(reduce_partial(flat), world_size()), "");
  EXPECT_EQ(reshape(zeros<Matrix>(mesh, Shard(0), {0, 4}), {2, 0, 7}).shape(), (Extents{2, 0, 7}));
}

TEST(Reshape, another_number_of_elements_is_an_error) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 4});
  EXPECT_EQ(invalid_argument_of([&] {
              reshape(x, {5, 5});
            }),
            "reshape: expected a shape of 24 elements, as (6, 4) has, got (5, 5)");
  EXPECT_EQ(invalid_argument_of([&] {
              reshape(x, {-1, -1});
            }),
            "reshape: expected a shape of 24 elements, as (6, 4) has, got (-1, -1)");
  EXPECT_EQ(invalid_argument_of([&] {
              reshape(x, {7, -1});
            }),
            "reshape: expected a shape of 24 elements, as (6, 4) has, got (7, -1)");
}

}  // namespace
