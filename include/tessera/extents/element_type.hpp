// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tessera/extents/hash.hpp>

namespace tessera {

/// An ElementKind says which arithmetic an element has, so that the library can reduce it. Elements
/// of every kind can be moved.
enum class ElementKind : std::uint8_t {
  opaque,  ///< any other type: can be moved, not reduced
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  long_double,
  complex64,   ///< two float32
  complex128,  ///< two float64
  complex_long_double,
};

/// Describes an element type as a value: its kind and its size in bytes.
struct ElementType {
  ElementKind kind = ElementKind::opaque;
  std::int32_t size = 0;

  friend constexpr bool operator==(const ElementType&, const ElementType&) = default;
};

/// Returns whether `kind` is one of int8 to int64 and uint8 to uint64; boolean is not an integer.
constexpr bool is_integer(ElementKind kind) {
  return kind >= ElementKind::int8 && kind <= ElementKind::uint64;
}
/// Returns whether `kind` is complex64, complex128 or complex_long_double.
constexpr bool is_complex(ElementKind kind) {
  return kind >= ElementKind::complex64;
}
/// Returns whether `kind` is a real floating-point number: float16 to float64, bfloat16 or
/// long_double.
constexpr bool is_floating(ElementKind kind) {
  return kind >= ElementKind::float16 && kind <= ElementKind::long_double;
}

/// Returns whether elements of the first kind can become elements of the second one: all numbers
/// except from complex to real.
constexpr bool converts_to(ElementKind from, ElementKind to) {
  const bool are_numbers = from != ElementKind::opaque && to != ElementKind::opaque;
  return are_numbers && (is_complex(to) || !is_complex(from));
}

/// Returns the name of the type: "float64", "complex64", "opaque(24 bytes)".
std::string to_string(ElementType type);

namespace detail {

/// Matches the floating-point types that have an ElementKind. Extensions such as __float128 have
/// none.
template <class T>
concept FloatingNumber =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, long double>;
/// Matches the integral types that have an ElementKind. Extensions such as __int128 have none.
template <class T>
concept IntegerNumber = std::integral<T> && sizeof(T) <= 8;

/// Matches std::complex, Kokkos::complex and similar types.
template <class T>
concept ComplexNumber = requires(T value) {
  typename T::value_type;
  requires FloatingNumber<typename T::value_type>;
  { value.real() } -> std::convertible_to<typename T::value_type>;
  { value.imag() } -> std::convertible_to<typename T::value_type>;
}
&&sizeof(T) == 2 * sizeof(typename T::value_type);

template <class T>
constexpr ElementKind floating_kind() {
  if constexpr (std::same_as<T, float>) return ElementKind::float32;
  if constexpr (std::same_as<T, double>) return ElementKind::float64;
  return ElementKind::long_double;
}

template <class T>
constexpr ElementKind integer_kind() {
  constexpr int log2_size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  const auto first = std::is_signed_v<T> ? ElementKind::int8 : ElementKind::uint8;
  return static_cast<ElementKind>(static_cast<int>(first) + log2_size);
}

template <class T>
constexpr ElementKind deduced_kind() {
  if constexpr (std::same_as<T, bool>)
    return ElementKind::boolean;
  else if constexpr (IntegerNumber<T>)
    return integer_kind<T>();
  else if constexpr (FloatingNumber<T>)
    return floating_kind<T>();
  else if constexpr (ComplexNumber<T>)
    return static_cast<ElementKind>(static_cast<int>(ElementKind::complex64) +
                                    static_cast<int>(floating_kind<typename T::value_type>()) -
                                    static_cast<int>(ElementKind::float32));
  else
    return ElementKind::opaque;
}

}  // namespace detail

/// Gives the kind of T. Specialise it for number types of your own that have a kind above.
template <class T>
inline constexpr ElementKind element_kind = detail::deduced_kind<T>();

/// Returns the element type of T, which must be trivially copyable.
template <class T>
constexpr ElementType element_type() {
  using Value = std::remove_cv_t<T>;
  static_assert(std::is_trivially_copyable_v<Value>, "elements travel as bytes");
  return {element_kind<Value>, static_cast<std::int32_t>(sizeof(Value))};
}

/// Returns a hash of `seed` and the kind and size of `type`.
constexpr std::uint64_t hash_combine(std::uint64_t seed, ElementType type) {
  seed = hash_combine(seed, static_cast<std::uint64_t>(type.kind));
  return hash_combine(seed, static_cast<std::uint64_t>(type.size));
}

}  // namespace tessera
