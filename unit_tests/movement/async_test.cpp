// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves in the background: several at once, whose results are those of the calls that wait.
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
std::string difference(const DTensor<V>& got, const DTensor<V>& expected) {
  if (got.spec() != expected.spec()) return to_string(got.spec());
  if (!got.device_mesh().coordinate()) return "";
  const auto a = detail::row_major_copy(got.to_local());
  const auto b = detail::row_major_copy(expected.to_local());
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a.data()[i] != b.data()[i]) return "another element at " + std::to_string(i);
  return "";
}

template <class V>
void expect_alike() {
  for (const auto& [mesh, placements] : matrix_cases()) {
    const auto x = iota<V>(mesh, placements, {12, 6});
    const auto name = to_string(x.spec());
    const Target columns = std::vector<Placement>(placements.size(), Shard(1));
    const std::array both{x, x};
    const Traffic traffic;
    auto rolled = roll_async(x, 5, 0);
    auto joined = concatenate_async(both, 1, columns);
    auto flat = reshape_async(x, {8, -1});
    EXPECT_EQ(difference(flat.wait(), reshape(x, {8, -1})), "") << name;
    EXPECT_EQ(difference(rolled.wait(), roll(x, 5, 0)), "") << name;
    EXPECT_EQ(difference(joined.wait(), concatenate(both, 1, columns)), "") << name;
    EXPECT_EQ(traffic.exchanges() % 2, 0) << name;  // each does what its blocking form does
    EXPECT_LE(traffic.exchanges(), 6) << name;
  }
}

TEST(Async, moves_are_those_of_the_calls_that_wait) {
  expect_alike<Matrix>();
  expect_alike<LeftMatrix>();
}

TEST(Async, what_is_summed_and_what_is_not_go_one_after_the_other) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(1), {3, 4});
  const auto sum = from_local(iota_view<Matrix>({3, 4}), mesh, Partial());
  for (int i = 0; i < 20; ++i) {
    auto joined = concatenate_async(std::array{x, sum}, 1, Shard(0));
    const auto other = concatenate(std::array{x, sum}, 1, Shard(0));  // while the first one goes on
    EXPECT_EQ(difference(joined.wait(), other), "");
  }
}

TEST(Async, nobody_needs_to_wait) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {12, 6});
  roll_async(x, 1, 0);
  const auto reshaped = reshape_async(x, {9, 8});
  concatenate_async(std::vector{x, x}, 0, Shard(1));
}

TEST(Async, errors_are_those_of_the_calls_that_wait) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 4});
  EXPECT_EQ(invalid_argument_of([&] { roll_async(x, 1, 2); }).substr(0, 11), "roll_async:");
  EXPECT_EQ(invalid_argument_of([&] {
              reshape_async(x, {5, 5});
            }),
            "reshape_async: expected a shape of 24 elements, as (6, 4) has, got (5, 5)");
  EXPECT_EQ(
      invalid_argument_of([&] { concatenate_async(std::vector<DTensor<Matrix>>(), 0, Shard(0)); }),
      "concatenate_async: expected at least 1 tensor, got none");
}

}  // namespace
