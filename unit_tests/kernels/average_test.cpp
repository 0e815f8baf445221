// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "../support/same_number.hpp"
#include "../support/test_array.hpp"
#include "kernels/device_average.hpp"
#include "kernels/pack.hpp"
#include "kernels/reduction.hpp"
#include "placement/wide_sum.hpp"

namespace tessera {
namespace {

using namespace tessera::test;

__extension__ using Int128 = __int128;

/// Returns a finite value of any magnitude.
template <class T>
T random_finite(std::mt19937_64& generator) {
  if constexpr (is_std_complex<T>) {
    using Part = typename T::value_type;
    return {random_finite<Part>(generator), random_finite<Part>(generator)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(generator());
  } else {
    using Limits = std::numeric_limits<T>;
    const auto exponent = std::uniform_int_distribution(Limits::min_exponent - Limits::digits,
                                                        Limits::max_exponent)(generator);
    const T fraction = std::ldexp(static_cast<T>(generator() | (std::uint64_t{1} << 63)), -64);
    const T value = std::ldexp(std::min(fraction, T{1} - Limits::epsilon()), exponent);
    return generator() % 2 == 0 ? value : -value;
  }
}

template <class T>
ArrayRef one(T& value) {
  return row_major(reinterpret_cast<std::byte*>(&value), element_type<T>(), {}, MemorySpace::host);
}

template <class T>
T average(std::vector<T> values, std::int64_t divisor = 0) {
  std::vector<ArrayRef> operands;
  for (auto& value : values) operands.push_back(one(value));
  T result{};
  detail::reduce(Execution(), ReduceOp::avg, operands, one(result),
                 divisor == 0 ? std::ssize(values) : divisor);
  return result;
}

template <class T>
class Average : public ::testing::Test {};

using Numbers =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, float, double, long double,
                     std::complex<float>, std::complex<double>, std::complex<long double>>;
TYPED_TEST_SUITE(Average, Numbers);

TYPED_TEST(Average, of_equal_numbers_is_that_number) {
  using T = TypeParam;
  std::mt19937_64 generator(1);
  std::vector<T> values{T{}, std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(),
                        std::numeric_limits<T>::min(), std::numeric_limits<T>::denorm_min()};
  if constexpr (std::is_floating_point_v<T>) values.push_back(-T{});
  for (int i = 0; i < 200; ++i) values.push_back(random_finite<T>(generator));

  for (const std::size_t n : {2, 3, 4, 5, 7, 8, 9, 11, 40, 1000})
    for (const T value : values)
      EXPECT_TRUE(is_same(average(std::vector<T>(n, value)), value)) << n << " times " << value;
}

/// The sum of numbers that are at most 2²⁰ is exact in 128-bit fixed point with as many bits behind
/// the point.
template <class T>
constexpr int fraction_bits = std::is_integral_v<T> ? 0 : std::numeric_limits<T>::digits;

template <class T>
T random_number(std::mt19937_64& generator) {
  const T value = random_finite<T>(generator);
  if constexpr (std::is_integral_v<T>) return value;
  int exponent = 0;
  const auto fraction = static_cast<long double>(std::frexp(value, &exponent));
  return static_cast<T>(std::ldexp(fraction, static_cast<int>(generator() % 20)));
}

TYPED_TEST(Average, is_within_a_unit_in_the_last_place) {
  using T = TypeParam;
  if constexpr (!is_std_complex<T>) {
    std::mt19937_64 generator(2);
    for (int i = 0; i < 3000; ++i) {
      const auto n = 2 + static_cast<int>(generator() % 12);
      std::vector<T> values;
      Int128 sum = 0;
      for (int k = 0; k < n; ++k) {
        values.push_back(random_number<T>(generator));
        if constexpr (std::is_integral_v<T>)
          sum += values.back();
        else
          sum += static_cast<Int128>(std::ldexp(values.back(), fraction_bits<T>));
      }

      const T result = average(values);

      if constexpr (std::is_integral_v<T>) {
        EXPECT_EQ(result, static_cast<T>(sum / n));
      } else {
        const auto expected = std::ldexp(static_cast<long double>(sum) / n, -fraction_bits<T>);
        const auto unit = std::abs(expected) * std::numeric_limits<T>::epsilon();
        EXPECT_LE(std::abs(result - expected), unit) << n << " numbers";
      }
    }
  }
}

TEST(AverageOf, finite_numbers_is_finite) {
  constexpr double most = std::numeric_limits<double>::max();

  EXPECT_EQ(average<double>({most, most / 2}), most * 0.75);
  EXPECT_EQ(average<double>({most, most, -most, -most}), 0.0);
  EXPECT_EQ(average<double>({most, -most, 3.0}), 1.0);
  EXPECT_EQ(average<float>({3e38f, 3e38f, 3e38f}), 3e38f);
  EXPECT_EQ(average<double>({1e308, 1e308, 1e-300}), 1e308 / 3 * 2);
}

TEST(AverageOf, infinities_and_nan_is_as_in_a_plain_sum) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double most = std::numeric_limits<double>::max();

  EXPECT_EQ(average<double>({infinity, 1, 2}), infinity);
  EXPECT_EQ(average<double>({-most, -infinity, most}), -infinity);
  EXPECT_TRUE(std::isnan(average<double>({infinity, -infinity, 0})));
  EXPECT_TRUE(std::isnan(average<double>({1, std::numeric_limits<double>::quiet_NaN()})));
}

TEST(AverageOf, integers_neither_wraps_nor_rounds_to_a_lower_number) {
  EXPECT_EQ(average<std::int8_t>({100, 100}), 100);
  EXPECT_EQ(average<std::uint8_t>({200, 200}), 200);
  EXPECT_EQ(average<std::int8_t>({-128, 127, 1}), 0);
  EXPECT_EQ(average<std::int32_t>({-3, -4}), -3);
  EXPECT_EQ(average<std::int64_t>({-3, -4}), -3);
  EXPECT_EQ(average<std::int64_t>({3, 4}), 3);
  EXPECT_EQ(average<std::int64_t>({-1, 0, 0}), 0);
  EXPECT_EQ(average<std::uint64_t>({~0ull, ~0ull, 0}), ~0ull / 3 * 2);
}

TEST(AverageOf, sums_and_averages_together_divides_the_whole_sum) {
  EXPECT_EQ(average<std::int16_t>({30000, 30000, 2, 2}, 2), 30002);
  EXPECT_EQ(average<double>({1, 2, 3, 4}, 2), 5.0);
}

TEST(AverageOf, a_number_and_nothing_else_rounds_once) {
  std::mt19937_64 generator(3);
  for (int i = 0; i < 2000; ++i) {
    const double x = random_finite<double>(generator);
    if (std::abs(x) > 1e300 || std::abs(x) < 1e-290) continue;
    EXPECT_EQ(average<double>({4 * x, -0.0, -0.0, -0.0}), x);
    EXPECT_EQ(average<double>({-0.0, 3 * x, -0.0}), 3 * x / 3);
  }
}

/// A Reduction of random operands, by whatever kernel.
template <class T>
struct RandomOperands {
  std::vector<TestArray> operands;
  Extents extents;

  RandomOperands(std::mt19937_64& generator, const Extents& shape, std::size_t n) : extents(shape) {
    std::mt19937 layouts(static_cast<unsigned>(generator()));
    for (std::size_t t = 0; t < n; ++t) {
      operands.emplace_back(layouts, element_type<T>(), shape, random_layout(layouts));
      for_each_index(
          shape, [&](const Extents& i) { operands.back().set(i, random_finite<T>(generator)); });
    }
  }

  std::vector<ArrayRef> refs() {
    std::vector<ArrayRef> result;
    for (auto& operand : operands) result.push_back(operand.ref());
    return result;
  }

  std::vector<T> averages() {
    std::vector<T> result(static_cast<std::size_t>(product(extents)));
    detail::reduce(Execution(), ReduceOp::avg, refs(), dense(result.data(), element_type<T>()),
                   std::ssize(operands));
    return result;
  }

  ArrayRef dense(void* data, ElementType type) const {
    return row_major(static_cast<std::byte*>(data), type, extents, MemorySpace::host);
  }
};

template <class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(is_same(a[i], b[i])) << i;
}

TYPED_TEST(Average, has_the_same_bits_in_one_call_and_in_several) {
  using T = TypeParam;
  std::mt19937_64 generator(4);
  const auto wide = detail::wide_sum_type(element_type<T>());
  EXPECT_TRUE(detail::is_wide_sum(wide));
  EXPECT_FALSE(detail::is_wide_sum(element_type<T>()));
  for (const std::size_t n : {3, 4, 7}) {
    RandomOperands<T> random(generator, {7, 100}, n);
    const auto expected = random.averages();
    const auto operands = random.refs();
    const auto bytes = static_cast<std::size_t>(700 * wide.size);
    std::vector<std::max_align_t> memory(2 * bytes / sizeof(std::max_align_t) + 2);
    auto* const first = reinterpret_cast<std::byte*>(memory.data());
    const std::vector sums{random.dense(first, wide), random.dense(first + bytes, wide)};
    const auto left = std::bit_floor(n - 1);

    detail::reduce(Execution(), ReduceOp::sum, std::span(operands).first(left), sums[0], 1);
    detail::reduce(Execution(), ReduceOp::sum, std::span(operands).subspan(left), sums[1], 1);
    std::vector<T> result(700);
    detail::reduce(Execution(), ReduceOp::sum, sums, random.dense(result.data(), element_type<T>()),
                   std::ssize(operands));

    expect_same_bits(result, expected);
  }
}

template <class T, class Kernel>
void expect_device_kernel_gives_the_same_bits() {
  std::mt19937_64 generator(5);
  for (std::size_t n = 2; n <= detail::operands_per_kernel; ++n) {
    RandomOperands<T> random(generator, {5, 1, 7}, n);
    const auto expected = random.averages();
    std::vector<T> result(35);
    const auto reduction = detail::make_reduction(
        random.refs(), random.dense(result.data(), element_type<T>()), static_cast<int>(n));
    const Kernel kernel(reduction);

    for (std::int64_t i = 0; i < product(reduction.extents); ++i) kernel(i);

    expect_same_bits(result, expected);
  }
}

TEST(DeviceAverage, gives_the_bits_of_the_host) {
  expect_device_kernel_gives_the_same_bits<double, detail::DeviceAverage<double>>();
  expect_device_kernel_gives_the_same_bits<float, detail::DeviceAverage<float>>();
  expect_device_kernel_gives_the_same_bits<std::int8_t, detail::DeviceAverage<std::int8_t>>();
  expect_device_kernel_gives_the_same_bits<std::uint64_t, detail::DeviceAverage<std::uint64_t>>();
  expect_device_kernel_gives_the_same_bits<std::complex<double>,
                                           detail::DeviceAverage<detail::Complex<double>>>();
}

}  // namespace
}  // namespace tessera
