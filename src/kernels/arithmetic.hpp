// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For ops: arithmetic of the number types of kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

/// Defines the arithmetic of the reductions. Number types are integers (bool as uint8_t by bit
/// ops), floating types and Complex.
namespace tessera::detail {

/// A Complex is a real and an imaginary part with the alignment of one T, as std::complex may have.
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

/// True if T has arithmetic on devices: all number types but long double and its Complex.
template <class T>
inline constexpr bool is_device_number =
    !std::is_same_v<T, long double> && !std::is_same_v<T, Complex<long double>>;

// Stands before a template for devices that the host also calls with numbers that devices lack: its calls of
// functions for the host are then no mistake.
#ifdef __NVCC__
#define TESSERA_ALSO_FOR_HOST_NUMBERS _Pragma("nv_exec_check_disable")
#else
#define TESSERA_ALSO_FOR_HOST_NUMBERS
#endif

/// Converts an integer to an unsigned type in which it wraps without undefined behaviour: one of at
/// least 32 bits, because smaller types would be promoted to int.
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
      // The formula would make one times an infinity NaN.
      if (is_one(a)) return b;
      if (is_one(b)) return a;
      // WORKAROUND(g++ 12): when it vectorises for AVX-512, it contracts a sum next to a difference
      // of products even where contraction is forbidden.
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

/// Returns whether the sign is negative, also for -0, but not for -infinity in long double. Unlike
/// signbit, copysign vectorises; devices have no copysign for long double.
template <class T>
KOKKOS_FUNCTION bool is_negative(T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    return Kokkos::copysign(T{1}, value) < T{0};
  else if constexpr (sizeof(T) == 2)
    return Kokkos::copysign(1.0f, static_cast<float>(value)) < 0.0f;
  else
    return T{1} / value < T{0};
}

/// Returns the minimum; NaN wins, and -0 < +0.
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

/// Returns value * factor; integers wrap.
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
