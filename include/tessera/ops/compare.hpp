// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

#include <tessera/ops/map.hpp>
#include <tessera/ops/reductions.hpp>
#include <tessera/redistribute/item.hpp>

namespace tessera {

/// Holds how far a and b may differ so that allclose() takes them for close to each other:
/// |a - b| ≤ absolute + relative |b|, computed in double, but for long double.
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
  bool equal_nan = false;  ///< whether NaN equals NaN
};

namespace detail {

/// Tells whether two elements are close.
template <class T>
struct IsClose {
  static constexpr bool is_for_host = element_kind<T> == ElementKind::long_double ||
                                      element_kind<T> == ElementKind::complex_long_double;

  Tolerance tolerance;

  KOKKOS_FUNCTION bool operator()(const T& a, const T& b) const {
    if constexpr (ComplexNumber<T>)
      return are_close(a.real(), a.imag(), b.real(), b.imag());
    else if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
      return are_close(static_cast<float>(a), 0.0F, static_cast<float>(b), 0.0F);
    else
      return are_close(a, T(0), b, T(0));
  }

 private:
  template <class P>
  KOKKOS_FUNCTION bool are_close(P a, P a_imag, P b, P b_imag) const {
    if (a == b && a_imag == b_imag) return true;
    using Wide = std::conditional_t<std::is_same_v<P, long double>, long double, double>;
    const auto x = static_cast<Wide>(a), y = static_cast<Wide>(b);
    const auto x_imag = static_cast<Wide>(a_imag), y_imag = static_cast<Wide>(b_imag);
    const bool a_is_nan = !(x == x && x_imag == x_imag), b_is_nan = !(y == y && y_imag == y_imag);
    if (a_is_nan || b_is_nan) return tolerance.equal_nan && a_is_nan && b_is_nan;
    const auto size = Kokkos::hypot(y, y_imag);
    // An infinity is close to itself alone.
    if (!(size < Kokkos::Experimental::infinity_v<Wide>)) return false;
    return Kokkos::hypot(x - y, x_imag - y_imag) <=
           static_cast<Wide>(tolerance.absolute) + static_cast<Wide>(tolerance.relative) * size;
  }
};

}  // namespace detail

/// Returns whether two tensors have the same shape and equal elements; NaN equals nothing. All
/// ranks of the mesh get the same answer; off the mesh it is false.
///
/// Collective over the mesh, with one exchange, where a dim is sharded or an operand is Partial;
/// otherwise local. Errors: those of ops::equal_to, so PlacementMismatch where operands would have
/// to move.
template <LocalView V, LocalView W>
bool equal(const DTensor<V>& a, const DTensor<W>& b) {
  return equal(Execution(), a, b);
}
/// Orders the work on `exec`, and waits for it.
template <LocalView V, LocalView W>
bool equal(const Execution& exec, const DTensor<V>& a, const DTensor<W>& b) {
  if (!(a.shape() == b.shape())) return false;
  return item(exec, ops::all(exec, ops::equal_to(exec, a, b)));
}

/// Returns whether two tensors of one element type have the same shape and elements that are close
/// to each other, see Tolerance.
///
/// Collective, Errors: those of equal().
template <LocalView V, LocalView W>
bool allclose(const DTensor<V>& a, const DTensor<W>& b, const Tolerance& tolerance = {}) {
  return allclose(Execution(), a, b, tolerance);
}
/// Orders the work on `exec`, and waits for it.
template <LocalView V, LocalView W>
bool allclose(const Execution& exec, const DTensor<V>& a, const DTensor<W>& b,
              const Tolerance& tolerance = {}) {
  using T = std::remove_const_t<typename V::value_type>;
  static_assert(std::is_same_v<T, std::remove_const_t<typename W::value_type>>,
                "allclose takes tensors of one element type: convert one of them by to<T>(x)");
  if (!(a.shape() == b.shape())) return false;
  return item(exec, ops::all(exec, map<bool>(exec, detail::IsClose<T>{tolerance}, a, b)));
}

}  // namespace tessera
