// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

/// The arithmetic of the reductions. Number types: integers (bool as uint8_t by bit ops), floating
/// types, Complex.
namespace tessera::detail {

/// Two numbers side by side, aligned as one, as std::complex may be.
template <class T>
struct Complex {
  using value_type = T;
  T real;
  T imag;
};

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<Complex<T>> = true;

/// T has arithmetic on devices.
template <class T>
inline constexpr bool is_device_number =
    !std::is_same_v<T, long double> && !std::is_same_v<T, Complex<long double>>;

/// As the unsigned type in which it wraps without undefined behaviour: small ones would be promoted
/// to int.
template <class T>
KOKKOS_FUNCTION constexpr auto wrapping(T value) {
  if constexpr (sizeof(T) < 4)
    return static_cast<std::uint32_t>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

struct Sum {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (is_complex_number<T>)
      return {a.real + b.real, a.imag + b.imag};
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(wrapping(a) + wrapping(b));
    else
      return a + b;
  }
};

struct Product {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (is_complex_number<T>) {
      // By the formula, one times an infinity would be NaN.
      if (is_one(a)) return b;
      if (is_one(b)) return a;
      // WORKAROUND(g++ 12): in vectors for AVX-512 it contracts a sum beside a difference of products,
      // also where contraction is forbidden.
      return {a.real * b.real + -a.imag * b.imag, a.real * b.imag + a.imag * b.real};
    } else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(wrapping(a) * wrapping(b));
    else
      return a * b;
  }

  template <class T>
  KOKKOS_FUNCTION static bool is_one(const T& value) {
    return value.real == 1 && value.imag == 0;
  }
};

/// The sign, also of zero. Unlike signbit, copysign vectorises; devices have none for long double.
template <class T>
KOKKOS_FUNCTION bool is_negative(T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    return Kokkos::copysign(T{1}, value) < T{0};
  else if constexpr (sizeof(T) == 2)
    return Kokkos::copysign(1.0f, static_cast<float>(value)) < 0.0f;
  else
    return T{1} / value < T{0};
}

/// NaN wins, -0 < +0.
struct Min {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return a < b ? a : b;
    else
      return (int{a < b} | int{a != a} | (int{a == b} & int{is_negative(a)})) != 0 ? a : b;
  }
};

struct Max {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return a > b ? a : b;
    else
      return (int{a > b} | int{a != a} | (int{a == b} & int{!is_negative(a)})) != 0 ? a : b;
  }
};

struct BitAnd {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

/// value / divisor; integers truncate toward zero.
template <class T>
KOKKOS_FUNCTION T divided(T value, std::int64_t divisor) {
  if constexpr (is_complex_number<T>)
    return {divided(value.real, divisor), divided(value.imag, divisor)};
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<T>(static_cast<std::int64_t>(value) / divisor);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(value) / static_cast<std::uint64_t>(divisor));
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(static_cast<float>(value) / static_cast<float>(divisor));
  else
    return value / static_cast<T>(divisor);
}

/// value * factor; integers wrap.
template <class T>
KOKKOS_FUNCTION T multiplied(T value, std::int64_t factor) {
  if constexpr (is_complex_number<T>)
    return {multiplied(value.real, factor), multiplied(value.imag, factor)};
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(value) * static_cast<std::uint64_t>(factor));
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(static_cast<float>(value) * static_cast<float>(factor));
  else
    return value * static_cast<T>(factor);
}

}  // namespace tessera::detail
