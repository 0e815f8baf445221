// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/ops/detail/elementwise_op.hpp>

#include "kernels/arithmetic.hpp"
#include "kernels/conversion.hpp"

/// Defines what each elementwise operator computes of the number types of kernels.
namespace tessera::detail {

template <class T>
KOKKOS_FUNCTION Kokkos::complex<T> as_kokkos(const Complex<T>& value) {
  return {value.real, value.imag};
}
template <class T>
KOKKOS_FUNCTION Complex<T> from_kokkos(const Kokkos::complex<T>& value) {
  return {value.real(), value.imag()};
}

/// Returns -value; integers wrap around.
template <class T>
KOKKOS_FUNCTION T negated(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(decltype(wrapping(value)){0} - wrapping(value));
  else
    return -value;
}

/// Returns a / b, truncated; 0 for b = 0, and the dividend where the quotient is too large.
template <class T>
KOKKOS_FUNCTION T integer_quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return negated(a);
  return static_cast<T>(a / b);
}

/// Returns base to the power of `exponent`; it wraps around. A negative power is 0 unless the base is 1
/// or -1; that of 0 is 0.
template <class T>
KOKKOS_FUNCTION T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>)
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return static_cast<T>(exponent % 2 == 0 ? 1 : -1);
      return 0;
    }
  T result = 1;
  std::uint64_t rest = static_cast<std::make_unsigned_t<T>>(exponent);
  for (; rest > 0; rest >>= 1) {
    if ((rest & 1) != 0) result = Product()(result, base);
    base = Product()(base, base);
  }
  return result;
}

TESSERA_ALSO_FOR_HOST_NUMBERS
template <class T>
KOKKOS_FUNCTION T sigmoid_of(T value) {
  // Of the two forms the one whose exponential does not overflow.
  if (value >= T(0)) return T(1) / (T(1) + Kokkos::exp(-value));
  const T power = Kokkos::exp(value);
  return power / (T(1) + power);
}

/// Returns what a unary operator gives for a complex number.
TESSERA_ALSO_FOR_HOST_NUMBERS
template <ElementwiseOp op, class T>
KOKKOS_FUNCTION auto complex_result(const Complex<T>& value) {
  using enum ElementwiseOp;
  if constexpr (op == negate) return Complex<T>{-value.real, -value.imag};
  if constexpr (op == real) return value.real;
  if constexpr (op == imag) return value.imag;
  if constexpr (op == conj) return Complex<T>{value.real, -value.imag};
  if constexpr (op == abs) return Kokkos::hypot(value.real, value.imag);
  if constexpr (op == square)
    return Complex<T>{value.real * value.real - value.imag * value.imag,
                      T(2) * value.real * value.imag};
  if constexpr (op == sqrt) return from_kokkos(Kokkos::sqrt(as_kokkos(value)));
  if constexpr (op == exp) return from_kokkos(Kokkos::exp(as_kokkos(value)));
  if constexpr (op == log) return from_kokkos(Kokkos::log(as_kokkos(value)));
  if constexpr (op == sin) return from_kokkos(Kokkos::sin(as_kokkos(value)));
  if constexpr (op == cos) return from_kokkos(Kokkos::cos(as_kokkos(value)));
  if constexpr (op == tanh) return from_kokkos(Kokkos::tanh(as_kokkos(value)));
}

/// Returns what a unary operator gives for a real number.
TESSERA_ALSO_FOR_HOST_NUMBERS
template <ElementwiseOp op, class T>
KOKKOS_FUNCTION T real_result(T value) {
  using enum ElementwiseOp;
  if constexpr (op == negate) return negated(value);
  if constexpr (op == real || op == conj) return value;
  if constexpr (op == imag) return T(0);
  if constexpr (op == abs) {
    if constexpr (std::is_unsigned_v<T>)
      return value;
    else if constexpr (std::is_integral_v<T>)
      return value < 0 ? negated(value) : value;
    else
      return Kokkos::fabs(value);
  }
  if constexpr (op == sign) {
    if constexpr (!std::is_unsigned_v<T>)
      if (value < T(0)) return T(-1);
    return value > T(0) ? T(1) : value;
  }
  if constexpr (op == square) return Product()(value, value);
  if constexpr (op == sqrt) return Kokkos::sqrt(value);
  if constexpr (op == exp) return Kokkos::exp(value);
  if constexpr (op == log) return Kokkos::log(value);
  if constexpr (op == sin) return Kokkos::sin(value);
  if constexpr (op == cos) return Kokkos::cos(value);
  if constexpr (op == tanh) return Kokkos::tanh(value);
  if constexpr (op == sigmoid) return sigmoid_of(value);
  if constexpr (op == relu) {
    if constexpr (!std::is_unsigned_v<T>)
      if (value < T(0)) return T(0);
    return value;
  }
}

/// Returns what a binary operator that keeps the type gives for complex numbers.
TESSERA_ALSO_FOR_HOST_NUMBERS
template <ElementwiseOp op, class T>
KOKKOS_FUNCTION Complex<T> complex_result(const Complex<T>& a, const Complex<T>& b) {
  using enum ElementwiseOp;
  if constexpr (op == add) return {a.real + b.real, a.imag + b.imag};
  if constexpr (op == subtract) return {a.real - b.real, a.imag - b.imag};
  if constexpr (op == multiply) return Product()(a, b);
  if constexpr (op == divide) return from_kokkos(as_kokkos(a) / as_kokkos(b));
  if constexpr (op == power) return from_kokkos(Kokkos::pow(as_kokkos(a), as_kokkos(b)));
}

/// Returns what a binary operator that keeps the type gives for real numbers.
TESSERA_ALSO_FOR_HOST_NUMBERS
template <ElementwiseOp op, class T>
KOKKOS_FUNCTION T real_result(T a, T b) {
  using enum ElementwiseOp;
  if constexpr (op == add) return Sum()(a, b);
  if constexpr (op == subtract) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(wrapping(a) - wrapping(b));
    else
      return a - b;
  }
  if constexpr (op == multiply) return Product()(a, b);
  if constexpr (op == divide) {
    if constexpr (std::is_integral_v<T>)
      return integer_quotient(a, b);
    else
      return a / b;
  }
  if constexpr (op == power) {
    if constexpr (std::is_integral_v<T>)
      return integer_power(a, b);
    else
      return Kokkos::pow(a, b);
  }
  if constexpr (op == minimum) return Min()(a, b);
  if constexpr (op == maximum) return Max()(a, b);
}

/// Returns whether a comparison holds.
template <ElementwiseOp op, class T>
KOKKOS_FUNCTION bool holds(const T& a, const T& b) {
  using enum ElementwiseOp;
  if constexpr (is_complex_number<T>) {
    const bool equal = a.real == b.real && a.imag == b.imag;
    return op == equal_to ? equal : !equal;
  } else if constexpr (std::is_same_v<T, Boolean>) {
    return op == equal_to ? a.value == b.value : a.value != b.value;
  } else {
    if constexpr (op == equal_to) return a == b;
    if constexpr (op == not_equal_to) return a != b;
    if constexpr (op == less) return a < b;
    if constexpr (op == less_equal) return a <= b;
    if constexpr (op == greater) return a > b;
    if constexpr (op == greater_equal) return a >= b;
  }
}

/// Tells whether the type is computed with as float.
template <class T>
inline constexpr bool is_computed_as_float =
    is_half<T> && !std::is_same_v<T, Boolean> && !std::is_integral_v<T>;

/// Computes one element of an operator. `Number` is the type of its operands.
template <ElementwiseOp op, class Number>
struct ElementwiseFunction {
  static constexpr bool is_for_host = !is_device_number<Number>;
  static constexpr bool is_comparison = traits_of(op).result == ResultKind::boolean;

  template <class T>
  KOKKOS_FUNCTION auto operator()(const T& value) const {
    if constexpr (std::is_same_v<T, Boolean>)
      return Boolean{static_cast<std::uint8_t>(value.value ^ 1)};  // logical_not
    else if constexpr (is_computed_as_float<T>)
      return static_cast<T>(real_result<op>(static_cast<float>(value)));
    else if constexpr (is_complex_number<T>)
      return complex_result<op>(value);
    else
      return real_result<op>(value);
  }

  template <class T>
  KOKKOS_FUNCTION auto operator()(const T& a, const T& b) const {
    using enum ElementwiseOp;
    if constexpr (is_comparison)
      return Boolean{static_cast<std::uint8_t>(holds<op>(a, b) ? 1 : 0)};
    else if constexpr (std::is_same_v<T, Boolean>)
      return Boolean{static_cast<std::uint8_t>(op == add || op == logical_or ? a.value | b.value
                                                                             : a.value & b.value)};
    else if constexpr (is_computed_as_float<T>)
      return static_cast<T>(real_result<op>(static_cast<float>(a), static_cast<float>(b)));
    else if constexpr (is_complex_number<T>)
      return complex_result<op>(a, b);
    else
      return real_result<op>(a, b);
  }
};

template <class T>
struct ElementwiseFunction<ElementwiseOp::where, T> {
  static constexpr bool is_for_host = !is_device_number<T>;

  KOKKOS_FUNCTION T operator()(const Boolean& condition, const T& a, const T& b) const {
    return condition.value != 0 ? a : b;
  }
};

/// Limits numbers to [least, most]; NaN stays.
template <class T>
struct ClampFunction {
  static constexpr bool is_for_host = !is_device_number<T>;

  T least;
  T most;
  KOKKOS_FUNCTION T operator()(const T& value) const {
    const T above = value < least ? least : value;
    return most < above ? most : above;
  }
};

/// Computes alpha a + beta b.
template <class T>
struct AxpbyFunction {
  static constexpr bool is_for_host = !is_device_number<T>;

  T alpha;
  T beta;
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const {
    if constexpr (is_computed_as_float<T>)
      return static_cast<T>(static_cast<float>(alpha) * static_cast<float>(a) +
                            static_cast<float>(beta) * static_cast<float>(b));
    else
      return Sum()(Product()(alpha, a), Product()(beta, b));
  }
};

}  // namespace tessera::detail
