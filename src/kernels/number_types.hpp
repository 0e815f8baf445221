// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For ops: the type with the arithmetic of an element kind.
#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/error/error.hpp>
#include <tessera/extents/element_type.hpp>

#include "kernels/arithmetic.hpp"

/// Each function here calls f(std::type_identity<T>{}) with the type T that has the arithmetic of a
/// kind.
namespace tessera::detail {

/// Calls f with a 16-bit floating type. Throws InvalidArgument where Kokkos has no such types: it
/// then makes them aliases of float, which 16-bit data is not.
template <class Half, class F>
void with_half_type(ElementKind kind, F&& f) {
  if constexpr (sizeof(Half) == 2)
    f(std::type_identity<Half>{});
  else
    throw InvalidArgument("expected an element type with arithmetic in this build of Kokkos, got " +
                          to_string(ElementType{kind, 2}));
}

template <class F>
void with_floating_type(ElementKind kind, F&& f) {
  switch (kind) {
    case ElementKind::float16:
      return with_half_type<Kokkos::Experimental::half_t>(kind, f);
    case ElementKind::bfloat16:
      return with_half_type<Kokkos::Experimental::bhalf_t>(kind, f);
    case ElementKind::float32:
      return f(std::type_identity<float>{});
    case ElementKind::float64:
      return f(std::type_identity<double>{});
    default:
      return f(std::type_identity<long double>{});
  }
}

template <class F>
void with_complex_type(ElementKind kind, F&& f) {
  if (kind == ElementKind::complex64)
    f(std::type_identity<Complex<float>>{});
  else if (kind == ElementKind::complex128)
    f(std::type_identity<Complex<double>>{});
  else
    f(std::type_identity<Complex<long double>>{});
}

template <class F>
void with_integer_type(ElementKind kind, F&& f) {
  switch (kind) {
    case ElementKind::int8:
      return f(std::type_identity<std::int8_t>{});
    case ElementKind::int16:
      return f(std::type_identity<std::int16_t>{});
    case ElementKind::int32:
      return f(std::type_identity<std::int32_t>{});
    case ElementKind::int64:
      return f(std::type_identity<std::int64_t>{});
    case ElementKind::uint8:
    case ElementKind::boolean:
      return f(std::type_identity<std::uint8_t>{});
    case ElementKind::uint16:
      return f(std::type_identity<std::uint16_t>{});
    case ElementKind::uint32:
      return f(std::type_identity<std::uint32_t>{});
    default:
      return f(std::type_identity<std::uint64_t>{});
  }
}

/// Calls f for any kind but opaque, with uint8_t for bool.
template <class F>
void with_number_type(ElementKind kind, F&& f) {
  if (is_complex(kind))
    with_complex_type(kind, f);
  else if (is_floating(kind))
    with_floating_type(kind, f);
  else
    with_integer_type(kind, f);
}

}  // namespace tessera::detail
