// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "io/convert.hpp"
#include "io/small_float.hpp"

namespace {

using namespace tessera;
using detail::can_convert;
using Kind = ElementKind;

constexpr int kinds = static_cast<int>(Kind::complex_long_double) + 1;

/// Rows: from; columns: to; in the order of ElementKind, opaque left out.
constexpr const char* allowed[] = {
    // b  i8..i64  u8..u64  f16 bf16 f32 f64 fl  c64 c128 cl
    "1 1111 1111 11111 111",  // boolean
    "0 1111 0000 11111 111",  // int8
    "0 0111 0000 11111 111",  // int16
    "0 0011 0000 11111 111",  // int32
    "0 0001 0000 11111 111",  // int64
    "0 0111 1111 11111 111",  // uint8
    "0 0011 0111 11111 111",  // uint16
    "0 0001 0011 11111 111",  // uint32
    "0 0000 0001 11111 111",  // uint64
    "0 0000 0000 11111 111",  // float16
    "0 0000 0000 11111 111",  // bfloat16
    "0 0000 0000 11111 111",  // float32
    "0 0000 0000 11111 111",  // float64
    "0 0000 0000 11111 111",  // long_double
    "0 0000 0000 00000 111",  // complex64
    "0 0000 0000 00000 111",  // complex128
    "0 0000 0000 00000 111",  // complex_long_double
};

TEST(CanConvert, follows_the_table) {
  for (int from = 1; from < kinds; ++from) {
    std::string row = allowed[from - 1];
    std::erase(row, ' ');
    for (int to = 1; to < kinds; ++to)
      EXPECT_EQ(can_convert(Kind(from), Kind(to)), row[static_cast<std::size_t>(to - 1)] == '1')
          << to_string({Kind(from), 0}) << " to " << to_string({Kind(to), 0});
  }
}

TEST(CanConvert, never_with_opaque) {
  for (int kind = 0; kind < kinds; ++kind) {
    EXPECT_FALSE(can_convert(Kind(kind), Kind::opaque));
    EXPECT_FALSE(can_convert(Kind::opaque, Kind(kind)));
  }
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& values) {
  std::vector<To> result(values.size());
  detail::convert(element_kind<From>, std::as_bytes(std::span(values)).data(), element_kind<To>,
                  std::as_writable_bytes(std::span(result)).data(),
                  static_cast<std::int64_t>(values.size()));
  return result;
}

TEST(Convert, keeps_values_and_rounds_to_nearest) {
  using Complex = std::complex<float>;
  EXPECT_EQ((converted<std::int64_t>(std::vector<std::int8_t>{-128, 127})),
            (std::vector<std::int64_t>{-128, 127}));
  EXPECT_EQ((converted<std::int32_t>(std::vector<std::uint16_t>{0, 65535})),
            (std::vector<std::int32_t>{0, 65535}));
  EXPECT_EQ((converted<float>(std::vector<std::int64_t>{16777217, -3})),
            (std::vector<float>{16777216.0F, -3.0F}));
  EXPECT_EQ((converted<float>(std::vector<double>{0.1, 1e300})),
            (std::vector<float>{0.1F, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ((converted<Complex>(std::vector<double>{0.5})), (std::vector<Complex>{{0.5F, 0.0F}}));
  EXPECT_EQ((converted<Complex>(std::vector<std::complex<double>>{{0.5, -2.0}})),
            (std::vector<Complex>{{0.5F, -2.0F}}));
}

TEST(Convert, keeps_the_bits_of_not_a_number) {
  std::uint64_t bits = 0x7ff4000000abcdef;
  std::vector<double> values(1);
  std::memcpy(values.data(), &bits, 8);

  const auto result = converted<double>(values);

  EXPECT_EQ(std::memcmp(result.data(), &bits, 8), 0);
}

TEST(SmallFloat, decodes_and_encodes_every_number) {
  const auto check = []<class Small>(Small) {
    for (int bits = 0; bits <= 0xffff; ++bits) {
      const auto value = decode(Small{static_cast<std::uint16_t>(bits)});
      if (std::isnan(value))
        EXPECT_GT(bits & 0x7fff, Small::infinity);
      else
        EXPECT_EQ(detail::encode<Small>(value).bits, bits);
    }
  };

  check(detail::Float16());
  check(detail::Bfloat16());
}

TEST(SmallFloat, rounds_to_the_nearest_and_ties_to_even) {
  const auto half = [](double value) { return detail::encode<detail::Float16>(value).bits; };

  EXPECT_EQ(half(2049.0), half(2048.0));
  EXPECT_EQ(half(2051.0), half(2052.0));
  EXPECT_EQ(half(2049.5), half(2050.0));
  EXPECT_EQ(half(65519.0), half(65504.0));
  EXPECT_EQ(half(65520.0), 0x7c00);
  EXPECT_EQ(half(-1e300), 0xfc00);
  EXPECT_EQ(half(std::ldexp(1.0, -25)), 0x0000);
  EXPECT_EQ(half(std::ldexp(1.1, -25)), 0x0001);
  EXPECT_EQ(half(std::nan("")), 0x7e00);
  EXPECT_EQ(detail::encode<detail::Bfloat16>(3.14159L).bits, 0x4049);
}

TEST(SwapBytes, turns_each_number_and_each_part_of_a_complex_one) {
  std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6, 7, 8};
  const auto swapped = [&](ElementType type, std::int64_t count) {
    auto result = bytes;
    detail::swap_bytes(type, std::as_writable_bytes(std::span(result)).data(), count);
    return result;
  };

  EXPECT_EQ(swapped(element_type<std::int8_t>(), 8), bytes);
  EXPECT_EQ(swapped(element_type<std::int16_t>(), 4),
            (std::vector<std::uint8_t>{2, 1, 4, 3, 6, 5, 8, 7}));
  EXPECT_EQ(swapped(element_type<double>(), 1),
            (std::vector<std::uint8_t>{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(swapped(element_type<std::complex<float>>(), 1),
            (std::vector<std::uint8_t>{4, 3, 2, 1, 8, 7, 6, 5}));
}

}  // namespace
