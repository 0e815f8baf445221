// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For perf_ops: products of matrices on this rank.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera::detail {

/// Describes one matrix in memory. Strides count elements.
struct MatrixRef {
  std::byte* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  MatrixRef transposed() const { return {data, columns, rows, column_stride, row_stride}; }
  /// Returns rows [begin, begin + count).
  MatrixRef row_range(std::int64_t begin, std::int64_t count, std::int64_t element_size) const {
    return {data + begin * row_stride * element_size, count, columns, row_stride, column_stride};
  }
};

/// Computes c = a b on this rank, or c = c + a b if `adds` is true: a is (…, m, k), b is (…, k, n), and c
/// is (…, m, n). Leading dims are those of c, or none: such an operand is taken for each of them. The
/// element type of c is that of sums of products; see ops::matmul.
///
/// Where the build has them, a BLAS on the host and Kokkos Kernels elsewhere compute products of
/// floating-point and complex numbers of 32 and 64 bits per part; a kernel computes all others. `mesh` is
/// for Temporaries, and may be null.
void multiply(const Execution& execution, const DeviceMesh* mesh, const ArrayRef& a,
              const ArrayRef& b, bool adds, const ArrayRef& c);

}  // namespace tessera::detail
