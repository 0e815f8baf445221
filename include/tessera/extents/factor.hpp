// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>

#include <tessera/extents/element_type.hpp>

namespace tessera {

/// A Factor multiplies elements of any number type. Integers, floating-point numbers and
/// complex numbers convert to it. An integer keeps all its bits.
class Factor {
 public:
  template <detail::IntegerNumber T>
  constexpr Factor(T value)
      : real_(static_cast<double>(value)),
        integer_(static_cast<std::int64_t>(value)),
        is_integer_(true) {}
  template <std::floating_point T>
  constexpr Factor(T value) : real_(static_cast<double>(value)) {}
  template <detail::ComplexNumber T>
  constexpr Factor(const T& value)
      : real_(static_cast<double>(value.real())), imaginary_(static_cast<double>(value.imag())) {}

  constexpr double real() const { return real_; }
  constexpr double imaginary() const { return imaginary_; }
  /// Returns the integer of which it was made; 0 if it was made of another number.
  constexpr std::int64_t integer() const { return integer_; }
  constexpr bool is_integer() const { return is_integer_; }
  /// Returns whether elements of this kind can be multiplied by it without a conversion that loses
  /// more than rounding: integers by integers, real numbers by real ones.
  constexpr bool fits(ElementKind kind) const {
    if (tessera::is_integer(kind)) return is_integer_;
    if (kind == ElementKind::boolean) return false;
    if (is_floating(kind)) return imaginary_ == 0;
    return is_complex(kind);
  }
  /// Compares values: 1 equals 1.0.
  friend constexpr bool operator==(const Factor& a, const Factor& b) {
    return a.real_ == b.real_ && a.imaginary_ == b.imaginary_ &&
           (!a.is_integer_ || !b.is_integer_ || a.integer_ == b.integer_);
  }

 private:
  double real_;
  double imaginary_ = 0;
  std::int64_t integer_ = 0;
  bool is_integer_ = false;
};

namespace detail {

/// Says what becomes of a destination: alpha times the source plus beta times what was there before.
/// With beta 0, what was there is not read.
struct Scaling {
  Factor alpha = 1;
  Factor beta = 0;

  /// Returns whether the source is copied as it is.
  constexpr bool is_copy() const { return alpha == Factor(1) && beta == Factor(0); }
  friend constexpr bool operator==(const Scaling&, const Scaling&) = default;
};

/// Returns a hash of both numbers.
std::uint64_t hash_of(const Scaling& scaling);
/// Returns the scaling as text: "2 times the source plus 1 times what is there".
std::string to_string(const Scaling& scaling);

}  // namespace detail
}  // namespace tessera
