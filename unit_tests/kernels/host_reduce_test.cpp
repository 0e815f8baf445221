// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/host_reduce.hpp"

namespace tessera::detail {
namespace {

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>)
    return {0, 1, static_cast<T>(-1), 7, Limits::min(), Limits::max()};
  else
    return {T(0),   -T(0),         T(1.5),        Limits::infinity(),   -Limits::infinity(),
            T(1e9), Limits::max(), Limits::min(), Limits::denorm_min(), Limits::quiet_NaN()};
}

/// Each of the special values beside each of the others, at odd places of memory.
template <class T>
struct Operands {
  std::vector<T> left, right;

  Operands() : left(1), right(1) {
    for (int repetition = 0; repetition < 3; ++repetition)
      for (const T a : special_values<T>())
        for (const T b : special_values<T>()) {
          left.push_back(a);
          right.push_back(b);
        }
  }
};

template <class T>
void expect_equal_bits(const std::vector<T>& actual, const std::vector<T>& expected) {
  EXPECT_EQ(std::memcmp(actual.data(), expected.data(), expected.size() * sizeof(T)), 0);
}

template <class TypeAndOp>
class HostReduceByAvx2 : public testing::Test {};

using Cases =
    testing::Types<std::tuple<float, Sum>, std::tuple<float, Product>, std::tuple<float, Min>,
                   std::tuple<double, Sum>, std::tuple<double, Product>, std::tuple<double, Min>,
                   std::tuple<double, Max>, std::tuple<std::int8_t, Sum>,
                   std::tuple<std::int8_t, Max>, std::tuple<std::int32_t, Product>,
                   std::tuple<std::int64_t, Sum>, std::tuple<std::uint16_t, Min>,
                   std::tuple<std::uint64_t, BitXor>>;
TYPED_TEST_SUITE(HostReduceByAvx2, Cases);

TYPED_TEST(HostReduceByAvx2, gives_the_same_bits) {
  if (!has_avx2) GTEST_SKIP() << "no AVX2";
  using T = std::tuple_element_t<0, TypeParam>;
  using Kernel = HostReduce<T, std::tuple_element_t<1, TypeParam>>;
  const Operands<T> operands;
  const auto most = static_cast<std::int64_t>(operands.left.size()) - 1;
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3},
                                    std::int64_t{31}, std::int64_t{33}, most}) {
    SCOPED_TRACE(length);
    const auto* left = operands.left.data() + 1;
    const auto* right = operands.right.data() + 1;
    std::vector<T> plain(operands.left.size()), by_avx2 = plain;
    Kernel::combine(plain.data() + 1, left, right, length);
    Kernel::combine_by_avx2(by_avx2.data() + 1, left, right, length);
    expect_equal_bits(by_avx2, plain);

    plain = by_avx2 = operands.left;
    Kernel::append(plain.data() + 1, right, length);
    Kernel::append_by_avx2(by_avx2.data() + 1, right, length);
    expect_equal_bits(by_avx2, plain);

    plain = by_avx2 = operands.right;
    Kernel::prepend(plain.data() + 1, left, length);
    Kernel::prepend_by_avx2(by_avx2.data() + 1, left, length);
    expect_equal_bits(by_avx2, plain);
  }
}

}  // namespace
}  // namespace tessera::detail
