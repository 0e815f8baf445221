// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

namespace tessera::test {

template <class T>
inline constexpr bool is_std_complex = false;
template <class T>
inline constexpr bool is_std_complex<std::complex<T>> = true;

/// Returns whether two numbers are the same, the sign of zero included; one NaN is as good as
/// another.
template <class T>
bool is_same(T a, T b) {
  if constexpr (is_std_complex<T>)
    return is_same(a.real(), b.real()) && is_same(a.imag(), b.imag());
  else if constexpr (std::is_floating_point_v<T>)
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
  else
    return a == b;
}

}  // namespace tessera::test
