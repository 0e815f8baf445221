// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/extents/element_type.hpp>
#include <tessera/extents/extents.hpp>
#include <tessera/tensor/memory_space.hpp>

namespace tessera {

/// Gives the kind of Kokkos' 16-bit floats if the backend has them; otherwise their names mean
/// float.
template <class T>
requires(sizeof(T) == 2 &&
         (std::is_same_v<T, Kokkos::Experimental::half_t> ||
          std::is_same_v<T, Kokkos::Experimental::bhalf_t>)) inline constexpr ElementKind
    element_kind<T> = std::is_same_v<T, Kokkos::Experimental::half_t> ? ElementKind::float16
                                                                      : ElementKind::bfloat16;

/// Describes a View without its type; the compiled core works on it. Strides count elements and may
/// have any value.
struct ArrayRef {
  std::byte* data = nullptr;
  ElementType type;
  Extents extents;
  Extents strides;
  MemorySpace space = MemorySpace::host;

  /// Returns the part of this array that begins at `offset` and has `shape`.
  ArrayRef part(const Extents& offset, const Extents& shape) const;
  /// Returns whether the elements follow one another without holes in row-major order.
  bool is_row_major() const;
  std::int64_t size() const { return product(extents); }
  std::int64_t bytes() const { return size() * type.size; }
};

/// Returns the ArrayRef of elements that lie at `data` one after another in row-major order.
ArrayRef row_major(std::byte* data, ElementType type, const Extents& shape, MemorySpace space);

/// Returns the ArrayRef of `view`. It drops const: the caller must know that the memory may be
/// written before it writes to it.
template <class View>
ArrayRef array_ref(const View& view) {
  using Value = std::remove_const_t<typename View::value_type>;
  ArrayRef result;
  result.data = reinterpret_cast<std::byte*>(const_cast<Value*>(view.data()));
  result.type = element_type<Value>();
  result.space = memory_space<typename View::memory_space>;
  // != because nvcc warns about < for Views without dims.
  for (std::size_t d = 0; d != View::rank(); ++d) {
    result.extents.push_back(static_cast<std::int64_t>(view.extent(d)));
    result.strides.push_back(static_cast<std::int64_t>(view.stride(d)));
  }
  return result;
}

}  // namespace tessera
