// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tessera/extents/box.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/launch.hpp>

#include "ops/product.hpp"

namespace tessera::detail {

/// Calls function(std::type_identity<T>{}) with float or double.
template <class Function>
void with_attention_type(ElementType type, const Function& function) {
  if (type.kind == ElementKind::float32)
    function(std::type_identity<float>{});
  else
    function(std::type_identity<double>{});
}

/// Calls functor(i) for all i in [0, items), where the memory lies. Each item touches about `bytes` bytes.
template <class Functor>
void launch_rows(const Execution& execution, MemorySpace space, const char* label,
                 std::int64_t items, std::int64_t bytes, const Functor& functor) {
  if (is_on_device(space))
    launch_on_device(execution, label, items, functor);
  else
    launch_on_host(execution, label, items, items * bytes, functor);
}

/// Gives kernels the rows of an array (batch, head, row, column).
template <class T>
struct RowsRef {
  T* data;
  std::int64_t heads, rows, columns;
  std::int64_t batch_stride, head_stride, row_stride, column_stride;

  explicit RowsRef(const ArrayRef& array)
      : data(reinterpret_cast<T*>(array.data)),
        heads(array.extents[1]),
        rows(array.extents[2]),
        columns(array.extents[3]),
        batch_stride(array.strides[0]),
        head_stride(array.strides[1]),
        row_stride(array.strides[2]),
        column_stride(array.strides[3]) {}

  /// Returns the beginning of a row, given its number among all rows of the array.
  KOKKOS_FUNCTION T* row(std::int64_t number) const {
    const auto matrix = number / rows;
    return data + matrix / heads * batch_stride + matrix % heads * head_stride +
           number % rows * row_stride;
  }
};

/// Returns rows of the matrix of a batch and a head, given their number, of an array (batch, head, row, column).
inline MatrixRef rows_of_matrix(const ArrayRef& array, std::int64_t number, Interval rows) {
  const auto heads = array.extents[1];
  const auto offset = number / heads * array.strides[0] + number % heads * array.strides[1] +
                      rows.begin * array.strides[2];
  return {array.data + offset * array.type.size, rows.size(), array.extents[3], array.strides[2],
          array.strides[3]};
}

/// Returns rows of all matrices of an array (batch, head, row, column).
inline ArrayRef rows_of_all(const ArrayRef& array, Interval rows) {
  return array.part({0, 0, rows.begin, 0},
                    {array.extents[0], array.extents[1], rows.size(), array.extents[3]});
}

/// Returns the number of matrices of an array (batch, head, …).
inline std::int64_t matrices_of(const ArrayRef& array) {
  return array.extents[0] * array.extents[1];
}

/// Calls function(rows) for parts of [0, rows), in ascending order, of which all but the last are multiples of
/// `at_once`, and between() after each part but the last.
template <class Function, class Between>
void for_each_part(std::int64_t rows, std::int64_t at_once, std::int64_t parts,
                   const Function& function, const Between& between) {
  const auto tiles = (rows + at_once - 1) / at_once;
  const auto count = std::clamp<std::int64_t>(parts, 1, std::max<std::int64_t>(1, tiles));
  for (std::int64_t part = 0; part < count; ++part) {
    if (part > 0 && between) between();
    function(Interval{std::min(rows, part * tiles / count * at_once),
                      std::min(rows, (part + 1) * tiles / count * at_once)});
  }
}

}  // namespace tessera::detail
