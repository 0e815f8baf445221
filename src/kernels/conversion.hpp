// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For ops: bool in memory, and conversions of one element.
#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/extents/factor.hpp>

#include "kernels/arithmetic.hpp"
#include "kernels/number_types.hpp"

/// Defines how one element becomes one of another type.
namespace tessera::detail {

/// A Boolean is a bool in memory. It is 0 or 1.
struct Boolean {
  std::uint8_t value;
};

template <class T>
inline constexpr bool is_half = !std::is_arithmetic_v<T> && sizeof(T) == 2;

/// Returns the integer that a number is truncated to; the nearest one if it is too large, 0 for NaN.
template <class T, class S>
KOKKOS_FUNCTION T truncated(S value) {
  constexpr auto least = Kokkos::Experimental::finite_min_v<T>;
  constexpr auto most = Kokkos::Experimental::finite_max_v<T>;
  if (!(value == value)) return 0;
  if (value <= static_cast<S>(least)) return least;
  // The largest integer may be rounded up to the next power of two, which does not fit.
  if (value >= static_cast<S>(most)) return most;
  return static_cast<T>(value);
}

template <class T, class S>
KOKKOS_FUNCTION T converted(S value) {
  if constexpr (std::is_same_v<S, T>)
    return value;
  else if constexpr (is_complex_number<S> && is_complex_number<T>)
    return {converted<typename T::value_type>(value.real),
            converted<typename T::value_type>(value.imag)};
  else if constexpr (is_complex_number<S>)
    return converted<T>(value.real);
  else if constexpr (std::is_same_v<S, Boolean>)
    return converted<T>(value.value);
  else if constexpr (is_half<S>)
    return converted<T>(static_cast<float>(value));
  else if constexpr (is_complex_number<T>)
    return {converted<typename T::value_type>(value), typename T::value_type(0)};
  else if constexpr (std::is_same_v<T, Boolean>)
    return {static_cast<std::uint8_t>(value != S(0) ? 1 : 0)};
  else if constexpr (is_half<T>)
    return static_cast<T>(static_cast<float>(value));
  else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<S>)
    return truncated<T>(value);
  else
    return static_cast<T>(value);
}

/// Holds a Scaling in the type of the elements.
template <class T>
struct Scaled {
  T alpha;
  T beta;
  bool has_beta;

  KOKKOS_FUNCTION T operator()(T value, T before) const {
    const auto scaled = times(alpha, value);
    return has_beta ? plus(scaled, times(beta, before)) : scaled;
  }

 private:
  KOKKOS_FUNCTION static T times(T a, T b) {
    if constexpr (std::is_same_v<T, Boolean>)
      return b;
    else if constexpr (is_half<T>)
      return static_cast<T>(static_cast<float>(a) * static_cast<float>(b));
    else
      return Product()(a, b);
  }
  KOKKOS_FUNCTION static T plus(T a, T b) {
    if constexpr (std::is_same_v<T, Boolean>)
      return a;
    else if constexpr (is_half<T>)
      return static_cast<T>(static_cast<float>(a) + static_cast<float>(b));
    else
      return Sum()(a, b);
  }
};

template <class T>
T number_as(const Factor& number) {
  if constexpr (is_complex_number<T>)
    return {static_cast<typename T::value_type>(number.real()),
            static_cast<typename T::value_type>(number.imaginary())};
  else if constexpr (std::is_same_v<T, Boolean>)
    return {1};
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(number.integer());
  else if constexpr (is_half<T>)
    return static_cast<T>(static_cast<float>(number.real()));
  else
    return static_cast<T>(number.real());
}

/// Calls f as with_number_type() does, with Boolean for bool.
template <class F>
void with_element_type(ElementKind kind, F&& f) {
  if (kind == ElementKind::boolean)
    f(std::type_identity<Boolean>{});
  else
    with_number_type(kind, f);
}

}  // namespace tessera::detail
