// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "placement/can_reduce.hpp"

namespace tessera {
namespace {

template <class Allowed>
void expect_allowed(ReduceOp op, Allowed is_allowed) {
  for (int k = 0; k <= static_cast<int>(ElementKind::complex_long_double); ++k) {
    const auto kind = static_cast<ElementKind>(k);
    EXPECT_EQ(can_reduce(op, kind), kind != ElementKind::opaque && is_allowed(kind))
        << static_cast<int>(op) << " of " << to_string(ElementType{kind, 0});
  }
}

TEST(CanReduce, sums_and_multiplies_every_number) {
  for (const auto op : {ReduceOp::sum, ReduceOp::product})
    expect_allowed(op, [](ElementKind) { return true; });
}

TEST(CanReduce, does_not_average_bool) {
  expect_allowed(ReduceOp::avg, [](ElementKind kind) { return kind != ElementKind::boolean; });
}

TEST(CanReduce, does_not_order_complex_numbers) {
  for (const auto op : {ReduceOp::min, ReduceOp::max})
    expect_allowed(op, [](ElementKind kind) { return !is_complex(kind); });
}

TEST(CanReduce, combines_bits_of_integers_and_bool_only) {
  for (const auto op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor})
    expect_allowed(
        op, [](ElementKind kind) { return is_integer(kind) || kind == ElementKind::boolean; });
}

}  // namespace
}  // namespace tessera
