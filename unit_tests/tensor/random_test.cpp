// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Host memory only: the tests of devices compare theirs with it.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/error/error.hpp>
#include <tessera/tensor/random.hpp>

#include "../support/test_array.hpp"

namespace tessera {
namespace {

using detail::Distribution;
using namespace tessera::test;

template <class T>
std::vector<T> filled(Distribution distribution, detail::RandomKey random, std::int64_t size,
                      std::int64_t first = 0) {
  std::vector<T> values(static_cast<std::size_t>(size));
  detail::fill_random(Execution(), distribution, random,
                      row_major(reinterpret_cast<std::byte*>(values.data()), element_type<T>(),
                                {size}, MemorySpace::host),
                      {size}, Piece{{Sections({first, first + size})}});
  return values;
}

template <class T>
T uniform(detail::RandomKey random, std::uint64_t index) {
  return filled<T>(Distribution::uniform, random, 1, static_cast<std::int64_t>(index))[0];
}

double unit53(std::uint64_t bits) {
  return std::ldexp(static_cast<double>(bits >> 11), -53);
}
float unit24(std::uint32_t bits) {
  return std::ldexp(static_cast<float>(bits >> 8), -24);
}

TEST(Rand, gives_the_known_answers_of_philox) {
  const detail::RandomKey ones{~0ull, ~0ull};
  const detail::RandomKey pi{0x299f31d0a4093822ull, 0x0370734413198a2eull};

  EXPECT_EQ(uniform<double>({}, 0), unit53(0xe169c58d6627e8d5ull));
  EXPECT_EQ(uniform<float>({}, 0), unit24(0x6627e8d5u));
  EXPECT_EQ(uniform<std::complex<double>>({}, 0),
            std::complex(unit53(0xe169c58d6627e8d5ull), unit53(0x9b00dbd8bc57ac4cull)));
  EXPECT_EQ(uniform<std::complex<float>>({}, 0),
            std::complex(unit24(0x6627e8d5u), unit24(0xbc57ac4cu)));
  EXPECT_EQ(uniform<double>(ones, ~0ull), unit53(0x41c83b0e408f276dull));
  EXPECT_EQ(uniform<double>(pi, 0x85a308d3243f6a88ull), unit53(0x94fdccebd16cfe09ull));
}

TEST(Rand, lies_in_the_half_open_unit_interval_and_fills_it_evenly) {
  constexpr double size = 1000000;
  const auto values = filled<float>(Distribution::uniform, {.seed = 3}, 1000000);

  double sum = 0;
  for (const auto value : values) sum += value;

  EXPECT_GE(*std::min_element(values.begin(), values.end()), 0.0f);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 1.0f);
  EXPECT_NEAR(sum / size, 0.5, 5 * std::sqrt(1.0 / 12 / size));
}

template <class T>
void expect_pieces_equal_the_full_tensor(Distribution distribution) {
  std::mt19937 generator(1);
  const Extents shape{5, 4, 33};
  const auto full = filled<T>(distribution, {7, 8}, product(shape));
  for (int n = 0; n < 60; ++n) {
    Extents offset;
    Extents extents;
    Piece piece;
    for (const auto extent : shape) {
      const auto begin = static_cast<std::int64_t>(generator()) % extent;
      offset.push_back(begin);
      extents.push_back(static_cast<std::int64_t>(generator()) % (extent - begin + 1));
      piece.sections.emplace_back(Interval{begin, begin + extents[extents.size() - 1]});
    }
    TestArray array(generator, element_type<T>(), extents, random_layout(generator));

    detail::fill_random(Execution(), distribution, {7, 8}, array.ref(), shape, piece);

    for_each_index(extents, [&](const Extents& index) {
      std::int64_t linear = 0;
      for (std::size_t d = 0; d < 3; ++d) linear = linear * shape[d] + offset[d] + index[d];
      EXPECT_EQ(array.get<T>(index), full[static_cast<std::size_t>(linear)])
          << to_string(index) << " of the piece at " << to_string(offset);
    });
  }
}

TEST(Rand, does_not_depend_on_how_the_tensor_is_cut_or_laid_out) {
  expect_pieces_equal_the_full_tensor<float>(Distribution::uniform);
  expect_pieces_equal_the_full_tensor<double>(Distribution::uniform);
  expect_pieces_equal_the_full_tensor<std::complex<float>>(Distribution::uniform);
}

TEST(Randn, does_not_depend_on_how_the_tensor_is_cut_or_laid_out) {
  expect_pieces_equal_the_full_tensor<double>(Distribution::normal);
  expect_pieces_equal_the_full_tensor<std::complex<double>>(Distribution::normal);
}

TEST(Rand, changes_with_seed_and_stream) {
  const auto values = filled<double>(Distribution::uniform, {1, 2}, 100);

  EXPECT_NE(filled<double>(Distribution::uniform, {2, 2}, 100), values);
  EXPECT_NE(filled<double>(Distribution::uniform, {1, 1}, 100), values);
  EXPECT_NE(filled<double>(Distribution::uniform, {1ull << 32, 2}, 100), values);
  EXPECT_EQ(filled<double>(Distribution::uniform, {1, 2}, 100), values);
}

void expect_standard_normal(const std::vector<double>& values) {
  const auto size = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  for (const auto value : values) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / size, 0, 5 / std::sqrt(size));
  EXPECT_NEAR(squares / size, 1, 5 * std::sqrt(2 / size));
}

TEST(Randn, has_mean_0_and_variance_1) {
  expect_standard_normal(filled<double>(Distribution::normal, {.seed = 11}, 1000000));
}

TEST(Randn, has_mean_0_and_variance_1_in_both_parts_of_complex_numbers) {
  const auto values = filled<std::complex<double>>(Distribution::normal, {.seed = 12}, 1000000);
  std::vector<double> real;
  std::vector<double> imaginary;
  double covariance = 0;
  for (const auto& value : values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
    covariance += value.real() * value.imag();
  }

  expect_standard_normal(real);
  expect_standard_normal(imaginary);
  EXPECT_NEAR(covariance / 1e6, 0, 5e-3);
}

TEST(Randn, follows_the_documented_formula) {
  const double radius =
      std::sqrt(-2 * std::log(unit53(0xe169c58d6627e8d5ull) + std::ldexp(1, -53)));
  const double angle = 2 * std::acos(-1.0) * unit53(0x9b00dbd8bc57ac4cull);

  EXPECT_DOUBLE_EQ(filled<double>(Distribution::normal, {}, 1)[0], radius * std::cos(angle));
}

TEST(Rand, rejects_types_that_have_no_such_numbers) {
  const auto message = [](auto value, Distribution distribution) -> std::string {
    try {
      filled<decltype(value)>(distribution, {}, 1);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };

  EXPECT_EQ(message(1, Distribution::uniform),
            "expected float, double or a complex of them as element type, got int32");
  EXPECT_EQ(message(1.0L, Distribution::normal),
            "expected float, double or a complex of them as element type, got longdouble");
}

TEST(Rand, fills_nothing_where_there_is_nothing) {
  EXPECT_TRUE(filled<double>(Distribution::uniform, {}, 0).empty());
}

}  // namespace
}  // namespace tessera
