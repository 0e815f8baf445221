// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "io/convert.hpp"
#include "io/small_float.hpp"

namespace tessera::detail {
namespace {

/// Lists the element types in the order of ElementKind, from boolean on.
using Types =
    std::tuple<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
               std::uint16_t, std::uint32_t, std::uint64_t, Float16, Bfloat16, float, double,
               long double, std::complex<float>, std::complex<double>, std::complex<long double>>;
constexpr std::size_t types = std::tuple_size_v<Types>;

template <class T>
inline constexpr bool is_small_v = false;
template <int fraction>
inline constexpr bool is_small_v<SmallFloat<fraction>> = true;
template <class T>
inline constexpr bool is_complex_v = false;
template <class Real>
inline constexpr bool is_complex_v<std::complex<Real>> = true;

template <class From, class To>
constexpr bool keeps_its_kind() {
  using FromLimits = std::numeric_limits<From>;
  using ToLimits = std::numeric_limits<To>;
  if (std::is_same_v<From, bool>) return true;
  if (std::is_same_v<To, bool>) return false;
  if (std::is_integral_v<To>)
    return std::is_integral_v<From> && ToLimits::digits >= FromLimits::digits &&
           ToLimits::is_signed >= FromLimits::is_signed;
  return is_complex_v<To> || !is_complex_v<From>;
}

template <class T>
auto load(const std::byte* data) {
  if constexpr (std::is_same_v<T, bool>) {
    return *data != std::byte{0};
  } else {
    T value;
    std::memcpy(&value, data, sizeof(T));
    if constexpr (is_small_v<T>)
      return decode(value);
    else
      return value;
  }
}

template <class To, class From>
To cast(From value) {
  if constexpr (is_small_v<To>) {
    return encode<To>(static_cast<long double>(value));
  } else if constexpr (is_complex_v<From>) {
    using Real = typename To::value_type;
    return To(static_cast<Real>(value.real()), static_cast<Real>(value.imag()));
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
void convert_elements(const std::byte* source, std::byte* destination, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = cast<To>(load<From>(source));
    std::memcpy(destination, &value, sizeof(To));
    source += sizeof(From);
    destination += sizeof(To);
  }
}

using Conversion = void (*)(const std::byte*, std::byte*, std::int64_t);

template <class From, class To>
constexpr Conversion conversion() {
  if constexpr (keeps_its_kind<From, To>())
    return convert_elements<From, To>;
  else
    return nullptr;
}

template <std::size_t... i>
constexpr auto make_conversions(std::index_sequence<i...>) {
  return std::array<Conversion, sizeof...(i)>{
      conversion<std::tuple_element_t<i / types, Types>,
                 std::tuple_element_t<i % types, Types>>()...};
}

constexpr auto conversions = make_conversions(std::make_index_sequence<types * types>());

/// Returns null if there is no conversion.
Conversion conversion_between(ElementKind from, ElementKind to) {
  if (from == ElementKind::opaque || to == ElementKind::opaque) return nullptr;
  const auto index = [](ElementKind kind) {
    return static_cast<std::size_t>(kind) - static_cast<std::size_t>(ElementKind::boolean);
  };
  return conversions[index(from) * types + index(to)];
}

template <std::size_t size>
void reverse_each(std::byte* data, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i, data += size) std::reverse(data, data + size);
}

/// Lists the functions by the binary logarithm of the element size.
constexpr std::array reversals = {reverse_each<1>, reverse_each<2>, reverse_each<4>,
                                  reverse_each<8>, reverse_each<16>};

}  // namespace

bool can_convert(ElementKind from, ElementKind to) {
  return conversion_between(from, to) != nullptr;
}

void convert(ElementKind from, const std::byte* source, ElementKind to, std::byte* destination,
             std::int64_t count) {
  conversion_between(from, to)(source, destination, count);
}

void swap_bytes(ElementType type, std::byte* data, std::int64_t count) {
  const int parts = is_complex(type.kind) ? 2 : 1;
  const auto size = static_cast<unsigned>(type.size / parts);
  reversals[static_cast<std::size_t>(std::countr_zero(size))](data, count * parts);
}

}  // namespace tessera::detail
