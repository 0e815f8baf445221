// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For nn: products of matrices by a BLAS, within a kernel.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/extents/element_type.hpp>
#include <tessera/tensor/execution.hpp>

#include "ops/product.hpp"

namespace tessera::detail {

/// Describes a matrix as a BLAS takes it: in column-major order, or transposed. Expects one that
/// satisfies is_blas_matrix().
struct BlasMatrix {
  char form;    ///< 'N', or 'T': the memory holds the transpose
  int leading;  ///< distance of two columns in memory, elements

  explicit BlasMatrix(const MatrixRef& matrix)
      : form(is_column_major(matrix) ? 'N' : 'T'),
        leading(static_cast<int>(
            std::max<std::int64_t>({1, form == 'N' ? matrix.rows : matrix.columns,
                                    form == 'N' ? matrix.column_stride : matrix.row_stride}))) {}

  static bool is_column_major(const MatrixRef& matrix) {
    return matrix.rows <= 1 ? matrix.column_stride != 1 || matrix.columns <= 1
                            : matrix.row_stride == 1;
  }
};

/// Returns whether the BLAS of this build multiplies matrices of such elements.
bool has_blas_for(ElementType type);

/// Returns whether a BLAS can read and write the matrix where it is: neighbours lie side by side along one
/// dim.
bool is_blas_matrix(const MatrixRef& matrix);

/// Limits the threads of the BLAS while it lives, of OpenBLAS and MKL: to those that Kokkos has on the host,
/// or to one where these have no cores of their own, or the work is small. Other libraries go by their own
/// settings.
class BlasThreads {
 public:
  /// `work` is the number of products of elements; 0 limits nothing.
  BlasThreads(const Execution& execution, std::int64_t work);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_ = 0;
  int wanted_ = 0;  ///< 0 where nothing is limited
};

/// Computes c = a b, or c = c + a b, by the BLAS. Expects matrices that satisfy is_blas_matrix(), of a type
/// that it has, and at least one product for each element of c.
void multiply_by_blas(ElementType type, const MatrixRef& a, const MatrixRef& b, bool adds,
                      const MatrixRef& c);

}  // namespace tessera::detail
