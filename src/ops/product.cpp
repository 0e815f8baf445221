// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include <tessera/tensor/detail/loops.hpp>

#include "kernels/number_types.hpp"
#include "kernels/pack.hpp"
#include "ops/blas.hpp"
#include "ops/kokkos_kernels.hpp"
#include "ops/product.hpp"
#include "ops/reduction_work.hpp"
#include "ops/temporaries.hpp"
#include "ops/tuning.hpp"

namespace tessera::detail {
namespace {

/// Describes products of matrices that have one shape: a, b and c of each batch.
struct Batches {
  Extents extents;                 ///< leading dims of c
  std::array<Extents, 3> strides;  ///< steps of a, b, c between batches, in elements
  MatrixRef a, b, c;               ///< matrices of the first batch
};

/// Returns the last two dims of an array as a matrix.
MatrixRef matrix_of(const ArrayRef& array) {
  const auto rows = array.extents.size() - 2, columns = rows + 1;
  return {array.data, array.extents[rows], array.extents[columns], array.strides[rows],
          array.strides[columns]};
}

Extents leading_strides(const ArrayRef& array, std::size_t leading) {
  Extents result = Extents::filled(leading, 0);
  if (array.extents.size() > 2)
    for (std::size_t d = 0; d < leading; ++d) result[d] = array.strides[d];
  return result;
}

Batches batches_of(const ArrayRef& a, const ArrayRef& b, const ArrayRef& c) {
  const auto leading = c.extents.size() - 2;
  Batches result{
      {},
      {leading_strides(a, leading), leading_strides(b, leading), leading_strides(c, leading)},
      matrix_of(a),
      matrix_of(b),
      matrix_of(c)};
  for (std::size_t d = 0; d < leading; ++d) result.extents.push_back(c.extents[d]);
  return result;
}

/// Computes one tile of a product; neighbouring items compute neighbouring columns.
template <class T, int Rows, int Columns>
struct ProductTile {
  using Acc = WideAcc<T>;
  using Out = std::conditional_t<is_computed_as_float<T>, T, Acc>;

  MatrixRef a, b, c;
  Loops batches;
  LoopArray batch_strides[3];
  std::int64_t tile_rows;
  std::int64_t tile_columns;
  bool adds;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const auto tiles = tile_rows * tile_columns;
    const auto batch = batches.item(item / tiles);
    const auto tile = item % tiles;
    const auto row = tile / tile_columns * Rows, column = tile % tile_columns * Columns;
    const auto* const left =
        reinterpret_cast<const T*>(a.data) + batches.offset(batch, batch_strides[0]);
    const auto* const right =
        reinterpret_cast<const T*>(b.data) + batches.offset(batch, batch_strides[1]);
    auto* const result = reinterpret_cast<Out*>(c.data) + batches.offset(batch, batch_strides[2]);
    // Indices beyond the matrix become its last ones, and their sums are not stored.
    std::int64_t rows[Rows], columns[Columns];
    for (int i = 0; i < Rows; ++i) rows[i] = least(row + i, c.rows - 1);
    for (int j = 0; j < Columns; ++j) columns[j] = least(column + j, c.columns - 1);
    Acc sums[Rows][Columns];
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Columns; ++j)
        sums[i][j] = adds ? widened(at(result, c, rows[i], columns[j])) : zero();
    for (std::int64_t k = 0; k < a.columns; ++k) {
      Acc factors[Columns];
      for (int j = 0; j < Columns; ++j) factors[j] = widened(at(right, b, k, columns[j]));
      for (int i = 0; i < Rows; ++i) {
        const auto factor = widened(at(left, a, rows[i], k));
        for (int j = 0; j < Columns; ++j)
          sums[i][j] = Sum()(sums[i][j], Product()(factor, factors[j]));
      }
    }
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Columns; ++j)
        if (row + i < c.rows && column + j < c.columns)
          at(result, c, row + i, column + j) = static_cast<Out>(sums[i][j]);
  }

 private:
  KOKKOS_FUNCTION static std::int64_t least(std::int64_t x, std::int64_t y) {
    return x < y ? x : y;
  }
  template <class E>
  KOKKOS_FUNCTION static Acc widened(const E& value) {
    return static_cast<Acc>(value);
  }
  KOKKOS_FUNCTION static Acc zero() {
    if constexpr (is_complex_number<Acc>)
      return Acc{0, 0};
    else
      return Acc(0);
  }
  template <class E>
  KOKKOS_FUNCTION static E& at(E* data, const MatrixRef& matrix, std::int64_t i, std::int64_t j) {
    return data[i * matrix.row_stride + j * matrix.column_stride];
  }
};

template <class T, int Rows, int Columns>
ProductTile<T, Rows, Columns> product_tile(const Batches& batches, bool adds) {
  ProductTile<T, Rows, Columns> kernel{batches.a,
                                       batches.b,
                                       batches.c,
                                       make_loops(batches.extents, 1),
                                       {},
                                       (batches.c.rows + Rows - 1) / Rows,
                                       (batches.c.columns + Columns - 1) / Columns,
                                       adds};
  for (std::size_t k = 0; k < 3; ++k) kernel.batch_strides[k] = loop_strides(batches.strides[k]);
  return kernel;
}

/// Computes products by a kernel that reads the matrices where they are.
template <class T>
void multiply_by_kernel(const Execution& execution, MemorySpace space, Batches batches, bool adds) {
  constexpr const char* label = "tessera::matmul";
  if (batches.c.column_stride > batches.c.row_stride) {
    batches.c = batches.c.transposed();
    batches.a = std::exchange(batches.b, batches.a.transposed()).transposed();
    std::swap(batches.strides[0], batches.strides[1]);
  }
  const auto count = product(batches.extents);
  if (!is_on_device(space)) {
    const auto kernel = product_tile<T, host_tile_rows, host_tile_columns>(batches, adds);
    const auto work = count * batches.c.rows * batches.c.columns * batches.a.columns;
    launch_on_host(execution, label, count * kernel.tile_rows * kernel.tile_columns,
                   work * std::int64_t{sizeof(T)}, kernel);
  } else if constexpr (has_device && is_device_number<T>) {
    const auto kernel = product_tile<T, device_tile, device_tile>(batches, adds);
    launch_on_device(execution, label, count * kernel.tile_rows * kernel.tile_columns, kernel);
  } else {
    throw InvalidArgument("expected an element type other than long double on a device");
  }
}

/// Gives the BLAS matrices that it can read: those of the arrays, or copies.
class BlasOperand {
 public:
  BlasOperand(const Execution& execution, Temporaries& temporaries, const ArrayRef& array) {
    if (is_blas_matrix(matrix_of(array))) {
      readable_.array = array;
      return;
    }
    readable_ = temporaries.allocate(array.type, array.extents, array.space, "tessera::matmul");
    copy(execution, array, readable_.array);
  }
  const ArrayRef& array() const { return readable_.array; }

 private:
  OwnedArray readable_;
};

/// Calls multiply(a, b, c) for the matrices of each batch.
template <class Multiply>
void for_each_batch(const Batches& batches, ElementType type, const Multiply& multiply) {
  const auto loops = make_loops(batches.extents, 1);
  auto item = loops.item(0);
  const auto of_batch = [&](MatrixRef matrix, std::size_t k) {
    matrix.data += loops.offset(item, loop_strides(batches.strides[k])) * type.size;
    return matrix;
  };
  for (std::int64_t i = 0; i < loops.items(); ++i, loops.advance(item))
    multiply(of_batch(batches.a, 0), of_batch(batches.b, 1), of_batch(batches.c, 2));
}

}  // namespace

void multiply(const Execution& execution, const DeviceMesh* mesh, const ArrayRef& a,
              const ArrayRef& b, bool adds, const ArrayRef& c) {
  if (c.size() == 0) return;
  const bool is_for_blas = !is_on_device(c.space) && has_blas_for(a.type);
  const auto terms = a.extents[a.extents.size() - 1];  // of none the kernel writes zeros
  if (terms > 0 && (is_for_blas || has_kokkos_kernels_for(a.type)) &&
      is_blas_matrix(matrix_of(c))) {
    Temporaries temporaries(execution, mesh);
    const BlasThreads threads(execution, is_for_blas ? c.size() * terms : 0);
    const BlasOperand left(execution, temporaries, a), right(execution, temporaries, b);
    if (is_for_blas) finish_host(execution);
    for_each_batch(batches_of(left.array(), right.array(), c), a.type,
                   [&](const MatrixRef& x, const MatrixRef& y, const MatrixRef& to) {
                     if (is_for_blas)
                       multiply_by_blas(a.type, x, y, adds, to);
                     else
                       multiply_by_kokkos_kernels(execution, c.space, a.type, x, y, adds, to);
                   });
    temporaries.finish();
    return;
  }
  with_number_type(a.type.kind, [&]<class T>(std::type_identity<T>) {
    multiply_by_kernel<T>(execution, c.space, batches_of(a, b, c), adds);
  });
}

}  // namespace tessera::detail
