// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::detail {

/// A SmallFloat is a 16-bit float as it lies in memory: sign, exponent, and a fraction of
/// `fraction` bits.
template <int fraction>
struct SmallFloat {
  static constexpr int fraction_bits = fraction;
  static constexpr int exponent_bits = 15 - fraction;
  static constexpr int min_exponent = 2 - (1 << (exponent_bits - 1));
  static constexpr int infinity = ((1 << exponent_bits) - 1) << fraction;

  std::uint16_t bits;
};

using Float16 = SmallFloat<10>;
using Bfloat16 = SmallFloat<7>;

/// Returns the exact value of `number`.
template <int fraction>
float decode(SmallFloat<fraction> number) {
  using Small = SmallFloat<fraction>;
  const int magnitude = number.bits & 0x7fff;
  const int exponent = std::max(magnitude >> fraction, 1);
  const int steps = magnitude - ((exponent - 1) << fraction);
  float value =
      std::ldexp(static_cast<float>(steps), exponent - 1 + Small::min_exponent - fraction);
  if (magnitude == Small::infinity) value = std::numeric_limits<float>::infinity();
  if (magnitude > Small::infinity) value = std::numeric_limits<float>::quiet_NaN();
  return std::copysign(value, (number.bits & 0x8000) != 0 ? -1.0F : 1.0F);
}

/// Returns the number that is nearest to `value`; ties go to even.
template <class Small>
Small encode(long double value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const auto magnitude = std::fabs(value);
  const auto with_sign = [&](int bits) { return Small{static_cast<std::uint16_t>(sign | bits)}; };
  if (std::isnan(value)) return with_sign(Small::infinity | (1 << (Small::fraction_bits - 1)));
  if (magnitude == 0.0L) return with_sign(0);
  if (std::isinf(value)) return with_sign(Small::infinity);
  const int exponent = std::max(std::ilogb(magnitude), Small::min_exponent);
  const auto steps = std::nearbyint(std::ldexp(magnitude, Small::fraction_bits - exponent));
  const int bits =
      (exponent - Small::min_exponent) * (1 << Small::fraction_bits) + static_cast<int>(steps);
  return with_sign(std::min(bits, Small::infinity));
}

}  // namespace tessera::detail
