// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include "kernels/arithmetic.hpp"

/// Defines the arithmetic of averages. A WideSum<T> is the sum of many elements of type T: it neither
/// wraps nor overflows for up to 2³¹ of them, and the average of up to 2²⁵ equal numbers is that
/// number, bit for bit. Hosts and devices give the same bits.
namespace tessera::detail {

/// Holds the sum of 64-bit integers as 2³² * high + low.
struct HalvedSum {
  std::int64_t high;
  std::uint64_t low;
};

/// Holds the sum of floating-point numbers as (sum + rest) / factor: `rest` is what rounding has
/// taken from `sum`, and `factor` is 1, or small where an element is so large that the sum might
/// overflow. An infinity or a NaN is in `sum` alone.
template <class T>
struct CompensatedSum {
  static constexpr T small = T{1} / (std::uint64_t{1} << 32) / (std::uint64_t{1} << 32);
  /// 2³² elements below this number have a finite sum.
  static constexpr T large = std::numeric_limits<T>::max() / (std::uint64_t{1} << 32);

  T sum;
  T rest;
  T factor;
};

template <class T>
KOKKOS_FUNCTION constexpr auto wide_sum_of_nothing() {
  if constexpr (is_complex_number<T>)
    return Complex<decltype(wide_sum_of_nothing<typename T::value_type>())>{};
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return HalvedSum{};
  else if constexpr (std::is_integral_v<T>)
    return std::int64_t{};
  else if constexpr (sizeof(T) <= 4)
    return double{};
  else
    return CompensatedSum<T>{};
}

template <class T>
using WideSum = decltype(wide_sum_of_nothing<T>());

/// Returns the sum of one element.
template <class T>
KOKKOS_FUNCTION WideSum<T> widened(T value) {
  using Sum = WideSum<T>;
  if constexpr (is_complex_number<T>) {
    return {widened(value.real), widened(value.imag)};
  } else if constexpr (std::is_same_v<Sum, HalvedSum>) {
    return {static_cast<std::int64_t>(value >> 32), static_cast<std::uint32_t>(value)};
  } else if constexpr (std::is_same_v<Sum, CompensatedSum<T>>) {
    const bool is_large = value > Sum::large || value < -Sum::large;
    const T factor = is_large ? Sum::small : T{1};
    return {value * factor, T{0}, factor};
  } else if constexpr (std::is_floating_point_v<Sum> && sizeof(T) == 2) {
    return static_cast<float>(value);
  } else {
    return static_cast<Sum>(value);
  }
}

KOKKOS_FUNCTION inline std::int64_t added(std::int64_t a, std::int64_t b) {
  return a + b;
}

KOKKOS_FUNCTION inline double added(double a, double b) {
  return a + b;
}

KOKKOS_FUNCTION inline HalvedSum added(const HalvedSum& a, const HalvedSum& b) {
  return {a.high + b.high, a.low + b.low};
}

/// Adds (a + rest_a) and (b + rest_b) as Knuth does: `rest` gets what the sum of a and b rounds off.
template <class T>
KOKKOS_FUNCTION CompensatedSum<T> added_without_factor(T a, T rest_a, T b, T rest_b) {
  const T sum = a + b;
  const T of_b = sum - a;
  const T lost = (a - (sum - of_b)) + (b - of_b);
  return {sum, lost + (rest_a + rest_b), T{1}};
}

template <class T>
KOKKOS_FUNCTION CompensatedSum<T> added(const CompensatedSum<T>& a, const CompensatedSum<T>& b) {
  const T factor = a.factor < b.factor ? a.factor : b.factor;
  const T for_a = a.factor == factor ? T{1} : factor;
  const T for_b = b.factor == factor ? T{1} : factor;
  auto result = added_without_factor(a.sum * for_a, a.rest * for_a, b.sum * for_b, b.rest * for_b);
  result.factor = factor;
  return result;
}

template <class Part>
KOKKOS_FUNCTION Complex<Part> added(const Complex<Part>& a, const Complex<Part>& b) {
  return {added(a.real, b.real), added(a.imag, b.imag)};
}

/// Returns a - n * q without rounding, where q is almost a / n and n is at most 2²⁵.
TESSERA_ALSO_FOR_HOST_NUMBERS
template <class T>
KOKKOS_FUNCTION T remainder_of(T a, T q, T n) {
  KOKKOS_IF_ON_DEVICE((return Kokkos::fma(-q, n, a);))
  KOKKOS_IF_ON_HOST((
      // Processors without such an instruction take long for fma(). Two halves of q, as Veltkamp
      // splits it, have exact products with n; the differences are exact because a and n * q are
      // almost equal.
      if constexpr (std::is_same_v<T, double>) {
        const double scaled = q * ((1 << 27) + 1);
        const double upper = scaled - (scaled - q);
        return (a - n * upper) - n * (q - upper);
      } else { return std::fma(-q, n, a); }))
}

/// Returns sum / n, truncated toward zero.
KOKKOS_FUNCTION inline std::int64_t divided(std::int64_t sum, std::int64_t n) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  // A quotient of doubles below 2⁵³ rounds to no higher integer, and takes a fraction of the time.
  if (-exact < sum && sum < exact && n < exact)
    return static_cast<std::int64_t>(static_cast<double>(sum) / static_cast<double>(n));
  return sum / n;
}

KOKKOS_FUNCTION inline std::int64_t divided(const HalvedSum& sum, std::int64_t n) {
  constexpr std::int64_t fits = std::int64_t{1} << 29;
  constexpr std::uint64_t low_fits = std::uint64_t{1} << 62;
  if (-fits < sum.high && sum.high < fits && sum.low < low_fits)
    return divided(sum.high * (std::int64_t{1} << 32) + static_cast<std::int64_t>(sum.low), n);
  // The quotient is rounded down first: high = n * upper + rest, and what is left fits 64 bits.
  std::int64_t upper = sum.high / n;
  std::int64_t rest = sum.high % n;
  if (rest < 0) {
    rest += n;
    --upper;
  }
  const auto divisor = static_cast<std::uint64_t>(n);
  const auto lower = (static_cast<std::uint64_t>(rest) << 32) + sum.low;
  auto result = (static_cast<std::uint64_t>(upper) << 32) + lower / divisor;
  const bool is_negative = upper < 0 && static_cast<std::int64_t>(result) < 0;
  if (is_negative && lower % divisor != 0) ++result;
  return static_cast<std::int64_t>(result);
}

template <class T>
KOKKOS_FUNCTION T divided_without_factor(T sum, T rest, T n) {
  const T inverse = T{1} / n;
  const T quotient = sum * inverse;
  const T more = (remainder_of(sum, quotient, n) + rest) * inverse;
  // -0 changes nothing, where +0 would make -0 positive, and NaN, which is more than an infinity,
  // would replace it. Compilers make vector instructions of this form.
  const T below = more < T{0} ? more : -T{0};
  return quotient + (more > T{0} ? more : below);
}

/// Returns the average; integers truncate toward zero.
template <class T>
KOKKOS_FUNCTION T average_of(const WideSum<T>& total, std::int64_t divisor) {
  if constexpr (is_complex_number<T>) {
    using Part = typename T::value_type;
    return {average_of<Part>(total.real, divisor), average_of<Part>(total.imag, divisor)};
  } else if constexpr (std::is_same_v<WideSum<T>, double>) {
    const double quotient = total / static_cast<double>(divisor);
    if constexpr (sizeof(T) == 2)
      return static_cast<T>(static_cast<float>(quotient));
    else
      return static_cast<T>(quotient);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(divided(total, divisor));
  } else {
    return divided_without_factor(total.sum, total.rest, static_cast<T>(divisor)) / total.factor;
  }
}

}  // namespace tessera::detail
