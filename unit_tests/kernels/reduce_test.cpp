// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <tessera/error/error.hpp>

#include "../support/same_number.hpp"
#include "../support/test_array.hpp"
#include "kernels/device_reduce.hpp"
#include "kernels/pack.hpp"
#include "placement/can_reduce.hpp"

namespace tessera {
namespace {

using namespace tessera::test;

constexpr std::array all_ops = {ReduceOp::sum, ReduceOp::avg,  ReduceOp::product, ReduceOp::min,
                                ReduceOp::max, ReduceOp::band, ReduceOp::bor,     ReduceOp::bxor};

template <class T>
T naive_min(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  }
  return std::min(a, b);
}

template <class T>
T naive_max(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return -naive_min(-a, -b);
  else
    return std::max(a, b);
}

template <class T>
T naive(ReduceOp op, T a, T b) {
  if constexpr (is_std_complex<T>) {
    if (op != ReduceOp::product) return {a.real() + b.real(), a.imag() + b.imag()};
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    if (op == ReduceOp::min) return naive_min(a, b);
    if (op == ReduceOp::max) return naive_max(a, b);
    if constexpr (std::is_same_v<T, bool>) {
      if (op == ReduceOp::sum || op == ReduceOp::bor) return a || b;
      return op == ReduceOp::bxor ? a != b : a && b;
    } else if constexpr (std::is_integral_v<T>) {
      const auto x = static_cast<std::uint64_t>(a);
      const auto y = static_cast<std::uint64_t>(b);
      if (op == ReduceOp::product) return static_cast<T>(x * y);
      if (op == ReduceOp::band) return static_cast<T>(x & y);
      if (op == ReduceOp::bor) return static_cast<T>(x | y);
      return static_cast<T>(op == ReduceOp::bxor ? x ^ y : x + y);
    } else {
      return op == ReduceOp::product ? a * b : a + b;
    }
  }
}

template <class T>
T naive_tree(ReduceOp op, const T* operands, std::size_t size) {
  if (size == 1) return operands[0];
  std::size_t left = 1;
  while (left * 2 < size) left *= 2;
  return naive(op, naive_tree(op, operands, left), naive_tree(op, operands + left, size - left));
}

template <class T>
T random_value(std::mt19937& generator) {
  if constexpr (is_std_complex<T>) {
    using Part = typename T::value_type;
    return {random_value<Part>(generator), random_value<Part>(generator)};
  } else if constexpr (std::is_same_v<T, bool>) {
    return generator() % 2 == 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>((static_cast<std::uint64_t>(generator()) << 32) | generator());
  } else {
    switch (generator() % 24) {
      case 0:
        return T{0};
      case 1:
        return -T{0};
      case 2:
        return std::numeric_limits<T>::infinity();
      case 3:
        return std::numeric_limits<T>::quiet_NaN();
      case 4:
        return std::numeric_limits<T>::denorm_min();
      default:
        return std::ldexp(static_cast<T>(generator()) - T{2147483648.0},
                          -31 + static_cast<int>(generator() % 8));
    }
  }
}

template <class T>
class Reduce : public ::testing::Test {};

using Types =
    ::testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, float, double, long double,
                     std::complex<float>, std::complex<double>, std::complex<long double>>;
TYPED_TEST_SUITE(Reduce, Types);

/// Operands and a destination of random layouts with random values.
template <class T>
struct Case {
  std::vector<TestArray> operands;
  TestArray destination;

  Case(std::mt19937& generator, const Extents& extents, std::size_t size)
      : destination(generator, element_type<T>(), extents, random_layout(generator)) {
    for (std::size_t t = 0; t < size; ++t) {
      operands.emplace_back(generator, element_type<T>(), extents, random_layout(generator));
      for_each_index(extents, [&](const Extents& index) {
        operands.back().set(index, random_value<T>(generator));
      });
    }
  }

  std::vector<ArrayRef> refs() {
    std::vector<ArrayRef> result;
    for (auto& operand : operands) result.push_back(operand.ref());
    return result;
  }

  std::vector<T> expected(ReduceOp op) {
    std::vector<T> result;
    for_each_index(destination.ref().extents, [&](const Extents& index) {
      const auto values = std::make_unique<T[]>(operands.size());
      for (std::size_t t = 0; t < operands.size(); ++t)
        values[t] = operands[t].template get<T>(index);
      result.push_back(naive_tree(op, values.get(), operands.size()));
    });
    return result;
  }
};

template <class T>
void expect_values(TestArray& array, const std::vector<T>& expected, const std::string& what) {
  std::size_t i = 0;
  std::size_t wrong = 0;
  for_each_index(array.ref().extents, [&](const Extents& index) {
    if (!is_same<T>(array.template get<T>(index), expected[i++])) ++wrong;
  });
  EXPECT_EQ(wrong, 0u) << what << " over " << to_string(array.ref().extents);
}

template <class T, class Function>
void for_each_allowed_op(Function function) {
  for (const auto op : all_ops)
    if (can_reduce(op, element_kind<T>)) function(op);
}

TYPED_TEST(Reduce, gives_the_bits_of_the_fixed_tree_for_any_layouts_and_number_of_operands) {
  using T = TypeParam;
  std::mt19937 generator(1);
  for_each_allowed_op<T>([&](ReduceOp op) {
    for (std::size_t size = 1; size <= 40; ++size) {
      Case<T> c(generator, random_extents(generator, size % 8 == 0 ? 3000 : 60), size);
      const auto expected = c.expected(op);

      const auto stores =
          generator() % 2 == 0 ? detail::Stores::cached : detail::Stores::non_temporal;
      detail::reduce(Execution(), op, c.refs(), c.destination.ref(), 1, stores);

      expect_values(c.destination, expected, to_string(op) + " of " + std::to_string(size));
    }
  });
}

TYPED_TEST(Reduce, may_write_into_any_of_its_operands) {
  using T = TypeParam;
  std::mt19937 generator(2);
  for_each_allowed_op<T>([&](ReduceOp op) {
    for (std::size_t size = 1; size <= 9; ++size)
      for (std::size_t target = 0; target < size; ++target) {
        Case<T> c(generator, {3, 50}, size);
        const auto expected = c.expected(op);

        detail::reduce(Execution(), op, c.refs(), c.operands[target].ref(), 1);

        expect_values(c.operands[target], expected, to_string(op) + " of " + std::to_string(size));
      }
  });
}

TYPED_TEST(Reduce, keeps_a_value_that_is_combined_with_the_identity) {
  using T = TypeParam;
  std::mt19937 generator(3);
  for_each_allowed_op<T>([&](ReduceOp op) {
    Case<T> c(generator, {300}, 1);
    if constexpr (is_std_complex<T>)
      if (op == ReduceOp::product)  // the plain formula does not keep infinities and signed zeros
        for (std::int64_t i = 0; i < 300; ++i)
          c.operands[0].template set<T>({i},
                                        T(static_cast<float>(i + 1), static_cast<float>(-i - 2)));
    const auto expected = c.expected(op);
    TestArray identity(generator, element_type<T>(), {300}, random_layout(generator));
    detail::fill_identity(Execution(), op, identity.ref());

    detail::reduce(Execution(), op, std::vector{identity.ref(), c.operands[0].ref()},
                   c.destination.ref(), 1);
    expect_values(c.destination, expected, to_string(op) + " after the identity");
    detail::reduce(Execution(), op, std::vector{c.operands[0].ref(), identity.ref()},
                   c.destination.ref(), 1);
    expect_values(c.destination, expected, to_string(op) + " before the identity");
  });
}

TYPED_TEST(Reduce, scales_in_place_by_an_integer) {
  using T = TypeParam;
  if constexpr (!std::is_same_v<T, bool>) {
    std::mt19937 generator(4);
    for (int n = 0; n < 20; ++n) {
      Case<T> c(generator, random_extents(generator, 200), 1);
      std::vector<T> expected = c.expected(ReduceOp::sum);
      for (auto& value : expected) {
        if constexpr (is_std_complex<T>)
          value = T(value.real() * 3, value.imag() * 3);
        else
          value = naive<T>(ReduceOp::product, value, T{3});
      }

      detail::scale(Execution(), c.operands[0].ref(), 3);

      expect_values(c.operands[0], expected, "scale");
    }
  }
}

TYPED_TEST(Reduce, rejects_ops_that_the_type_does_not_have) {
  using T = TypeParam;
  std::vector<std::byte> memory(sizeof(T), std::byte{0});
  const auto array = row_major(memory.data(), element_type<T>(), {}, MemorySpace::host);
  for (const auto op : all_ops) {
    if (can_reduce(op, element_kind<T>)) continue;
    EXPECT_THROW(detail::reduce(Execution(), op, std::span(&array, 1), array, 1), InvalidArgument);
    EXPECT_THROW(detail::fill_identity(Execution(), op, array), InvalidArgument);
  }
}

TEST(ReduceOnce, transposes_large_operands_in_another_memory_order) {
  std::mt19937 generator(7);
  for (std::size_t size = 1; size <= 5; ++size) {
    const Extents extents{130, 3, 257};
    Case<double> c(generator, extents, size);
    for (std::size_t t = 0; t < size; ++t) {
      const auto layout = t % 2 == 0 ? Layout::right : Layout::left;
      c.operands[t] = TestArray(generator, element_type<double>(), extents, layout);
      for_each_index(extents, [&](const Extents& index) {
        c.operands[t].set(index, random_value<double>(generator));
      });
    }
    c.destination = TestArray(generator, element_type<double>(), extents, Layout::left);
    const auto expected = c.expected(ReduceOp::sum);

    detail::reduce(Execution(), ReduceOp::sum, c.refs(), c.destination.ref(), 1);
    expect_values(c.destination, expected, std::to_string(size) + " operands");
    detail::reduce(Execution(), ReduceOp::sum, c.refs(), c.operands[0].ref(), 1);
    expect_values(c.operands[0], expected, std::to_string(size) + " operands in place");
  }
}

template <class T, class Op>
void expect_device_kernel_gives_the_tree(ReduceOp op) {
  std::mt19937 generator(5);
  for (std::size_t size = 1; size <= detail::operands_per_kernel; ++size) {
    Case<T> c(generator, {5, 1, 7}, size);
    const auto reduction = detail::make_reduction(c.refs(), c.destination.ref(), 1);
    const detail::DeviceReduce<T, Op> kernel(reduction);

    for (std::int64_t i = 0; i < product(reduction.extents); ++i) kernel(i);

    expect_values(c.destination, c.expected(op), to_string(op));
  }
}

TEST(DeviceReduce, gives_the_bits_of_the_fixed_tree) {
  expect_device_kernel_gives_the_tree<double, detail::Sum>(ReduceOp::sum);
  expect_device_kernel_gives_the_tree<float, detail::Max>(ReduceOp::max);
  expect_device_kernel_gives_the_tree<std::int16_t, detail::Product>(ReduceOp::product);
}

TEST(ReduceOnce, does_not_depend_on_the_number_of_threads_or_on_strides) {
  std::mt19937 generator(6);
  Case<double> c(generator, {100, 90}, 7);
  const auto expected = c.expected(ReduceOp::sum);
  TestArray dense(generator, element_type<double>(), {100, 90}, Layout::left);

  detail::reduce(Execution(), ReduceOp::sum, c.refs(), c.destination.ref(), 1);
  detail::reduce(Execution(Kokkos::DefaultHostExecutionSpace()), ReduceOp::sum, c.refs(),
                 dense.ref(), 1);

  expect_values(c.destination, expected, "random layout");
  expect_values(dense, expected, "dense");
}

template <class T>
T reduced(ReduceOp op, std::vector<T> values, std::int64_t divisor = 1) {
  std::vector<ArrayRef> operands;
  for (auto& value : values)
    operands.push_back(
        row_major(reinterpret_cast<std::byte*>(&value), element_type<T>(), {}, MemorySpace::host));
  T result{};
  detail::reduce(
      Execution(), op, operands,
      row_major(reinterpret_cast<std::byte*>(&result), element_type<T>(), {}, MemorySpace::host),
      divisor);
  return result;
}

TEST(ReduceOnce, wraps_integer_sums_and_products) {
  EXPECT_EQ(reduced<std::int8_t>(ReduceOp::sum, {127, 1}), -128);
  EXPECT_EQ(reduced<std::int32_t>(ReduceOp::sum, {2147483647, 1}), -2147483647 - 1);
  EXPECT_EQ(reduced<std::uint16_t>(ReduceOp::product, {65535, 65535}), 1);
}

TEST(ReduceOnce, lets_nan_win_and_orders_zeros_by_their_sign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  for (const auto op : {ReduceOp::min, ReduceOp::max}) {
    EXPECT_TRUE(std::isnan(reduced<double>(op, {nan, 1})));
    EXPECT_TRUE(std::isnan(reduced<double>(op, {1, nan})));
    EXPECT_TRUE(std::isnan(reduced<double>(op, {1, 2, nan, 0})));
  }
  EXPECT_TRUE(std::signbit(reduced<double>(ReduceOp::min, {0.0, -0.0})));
  EXPECT_TRUE(std::signbit(reduced<double>(ReduceOp::min, {-0.0, 0.0})));
  EXPECT_FALSE(std::signbit(reduced<double>(ReduceOp::max, {0.0, -0.0})));
  EXPECT_FALSE(std::signbit(reduced<double>(ReduceOp::max, {-0.0, 0.0})));
}

TEST(ReduceOnce, combines_in_the_documented_order) {
  const double large = 1e16;

  EXPECT_EQ(reduced<double>(ReduceOp::sum, {large, 1, 1}), large + 1 + 1);
  EXPECT_EQ(reduced<double>(ReduceOp::sum, {large, 1, 1, 1}), (large + 1) + (1. + 1));
  EXPECT_EQ(reduced<double>(ReduceOp::sum, {1, 1, 1, 1, large, 1}), 4. + (large + 1));
}

TEST(ReduceOnce, says_what_it_expected) {
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };

  EXPECT_EQ(message([] {
              reduced<float>(ReduceOp::band, {1, 2});
            }),
            "reduce: expected an element type that reduces by band, got float32");
  EXPECT_EQ(message([] {
              reduced<float>(ReduceOp::max, {1, 2}, 2);
            }),
            "reduce: expected divisor 1 for max of float32, got 2");
  EXPECT_EQ(message([] {
              reduced<float>(ReduceOp::sum, {1, 2}, 0);
            }),
            "reduce: expected divisor 1 for sum of float32, got 0");
}

}  // namespace
}  // namespace tessera
