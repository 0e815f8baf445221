// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For nn: what the softmax family computes of single elements.
#pragma once

#include <Kokkos_Core.hpp>

#include "ops/elementwise_function.hpp"

/// Defines what the softmax family computes of single elements. T is float, double or long double.
namespace tessera::detail {

/// Returns what is subtracted from the elements of a row: its largest element, or 0 where that is -infinity
/// or NaN, so that a row of -infinities has the sum 0.
TESSERA_ALSO_FOR_HOST_NUMBERS
template <class T>
KOKKOS_FUNCTION T shift_of(T most) {
  return most > -Kokkos::Experimental::infinity_v<T> ? most : T(0);
}

/// Computes exp(a - b), where b is the largest element of the row.
template <class T>
struct ExpOfDifference {
  static constexpr bool is_for_host = !is_device_number<T>;
  TESSERA_ALSO_FOR_HOST_NUMBERS
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const {
    return Kokkos::exp(a - shift_of(b));
  }
};

/// Computes a - b, where b is the largest element of the row.
template <class T>
struct DifferenceToLargest {
  static constexpr bool is_for_host = !is_device_number<T>;
  TESSERA_ALSO_FOR_HOST_NUMBERS
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const { return a - shift_of(b); }
};

/// Computes a - log(b), where b is the sum of the exponentials of the row.
template <class T>
struct LessLog {
  static constexpr bool is_for_host = !is_device_number<T>;
  TESSERA_ALSO_FOR_HOST_NUMBERS
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const { return a - Kokkos::log(b); }
};

/// Computes log(a) + b, where a is the sum of the exponentials of a row and b its largest element.
template <class T>
struct LogOfSum {
  static constexpr bool is_for_host = !is_device_number<T>;
  TESSERA_ALSO_FOR_HOST_NUMBERS
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const {
    return b == Kokkos::Experimental::infinity_v<T> ? b : Kokkos::log(a) + shift_of(b);
  }
};

template <class T>
struct Quotient {
  static constexpr bool is_for_host = !is_device_number<T>;
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const { return a / b; }
};

}  // namespace tessera::detail
