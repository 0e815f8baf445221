// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <complex>
#include <limits>

#include <tessera/tensor/detail/launch.hpp>

#include "ops/blas.hpp"

// The interface of every BLAS: matrices in column-major order, 32-bit integers, all by pointer. Lengths of
// character arguments, which some Fortran compilers add, are not read by any C or Fortran BLAS.
#if defined(TESSERA_HAVE_BLAS)
namespace {

template <class T>
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*,
                  const int*, const T*, const int*, const T*, T*, const int*);
template <class T>
using Gemv = void(const char*, const int*, const int*, const T*, const T*, const int*, const T*,
                  const int*, const T*, T*, const int*);

}  // namespace

extern "C" {
Gemm<float> sgemm_;
Gemm<double> dgemm_;
Gemm<std::complex<float>> cgemm_;
Gemm<std::complex<double>> zgemm_;
Gemv<float> sgemv_;
Gemv<double> dgemv_;
Gemv<std::complex<float>> cgemv_;
Gemv<std::complex<double>> zgemv_;

// Present in some libraries only: how many threads a call takes.
[[gnu::weak]] void openblas_set_num_threads(int threads);
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] int MKL_Set_Num_Threads_Local(int threads);
}
#endif

namespace tessera::detail {
namespace {

std::int64_t leading_stride(const MatrixRef& matrix) {
  return matrix.row_stride == 1 ? matrix.column_stride : matrix.row_stride;
}

#if defined(TESSERA_HAVE_BLAS)

/// Names the functions for elements of type T.
template <class T>
struct Blas;
template <>
struct Blas<float> {
  static constexpr auto gemm = sgemm_;
  static constexpr auto gemv = sgemv_;
};
template <>
struct Blas<double> {
  static constexpr auto gemm = dgemm_;
  static constexpr auto gemv = dgemv_;
};
template <>
struct Blas<std::complex<float>> {
  static constexpr auto gemm = cgemm_;
  static constexpr auto gemv = cgemv_;
};
template <>
struct Blas<std::complex<double>> {
  static constexpr auto gemm = zgemm_;
  static constexpr auto gemv = zgemv_;
};

template <class T>
T* data_of(const MatrixRef& matrix) {
  return reinterpret_cast<T*>(matrix.data);
}

/// Computes a product whose result is a column.
template <class T>
void multiply_by_column(const MatrixRef& a, const MatrixRef& b, bool adds, const MatrixRef& c) {
  const BlasMatrix matrix(a);
  const auto rows = static_cast<int>(matrix.form == 'N' ? a.rows : a.columns);
  const auto columns = static_cast<int>(matrix.form == 'N' ? a.columns : a.rows);
  const auto step_b = static_cast<int>(std::max<std::int64_t>(1, b.row_stride));
  const auto step_c = static_cast<int>(std::max<std::int64_t>(1, c.row_stride));
  const T one = 1, beta = adds ? 1 : 0;
  Blas<T>::gemv(&matrix.form, &rows, &columns, &one, data_of<T>(a), &matrix.leading, data_of<T>(b),
                &step_b, &beta, data_of<T>(c), &step_c);
}

template <class T>
void multiply_as(const MatrixRef& a, const MatrixRef& b, bool adds, const MatrixRef& c) {
  if (c.columns == 1) return multiply_by_column<T>(a, b, adds, c);
  if (c.rows == 1)
    return multiply_by_column<T>(b.transposed(), a.transposed(), adds, c.transposed());
  // A result in row-major order is the transpose of one in column-major order.
  if (!BlasMatrix::is_column_major(c))
    return multiply_as<T>(b.transposed(), a.transposed(), adds, c.transposed());
  const BlasMatrix left(a), right(b), result(c);
  const auto m = static_cast<int>(c.rows), n = static_cast<int>(c.columns),
             k = static_cast<int>(a.columns);
  const T one = 1, beta = adds ? 1 : 0;
  Blas<T>::gemm(&left.form, &right.form, &m, &n, &k, &one, data_of<T>(a), &left.leading,
                data_of<T>(b), &right.leading, &beta, data_of<T>(c), &result.leading);
}

#endif

}  // namespace

bool has_blas_for([[maybe_unused]] ElementType type) {
#if defined(TESSERA_HAVE_BLAS)
  return type.kind == ElementKind::float32 || type.kind == ElementKind::float64 ||
         type.kind == ElementKind::complex64 || type.kind == ElementKind::complex128;
#else
  return false;
#endif
}

bool is_blas_matrix(const MatrixRef& matrix) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (matrix.rows > most || matrix.columns > most) return false;
  if (std::max(matrix.row_stride, matrix.column_stride) > most) return false;
  if (std::min(matrix.row_stride, matrix.column_stride) < 0) return false;
  if (matrix.rows <= 1 && matrix.columns <= 1) return true;
  const bool is_column = matrix.columns <= 1, is_row = matrix.rows <= 1;
  if (is_column || is_row) return (is_column ? matrix.row_stride : matrix.column_stride) > 0;
  if (matrix.row_stride == 1) return leading_stride(matrix) >= matrix.rows;
  return matrix.column_stride == 1 && leading_stride(matrix) >= matrix.columns;
}

#if defined(TESSERA_HAVE_BLAS)

BlasThreads::BlasThreads(const Execution& execution, std::int64_t work) {
  if (work == 0) return;
  wanted_ =
      is_for_threads(execution, work) ? execution.instance<MemorySpace::host>().concurrency() : 1;
  if (openblas_set_num_threads != nullptr && openblas_get_num_threads != nullptr) {
    before_ = openblas_get_num_threads();
    if (before_ != wanted_) openblas_set_num_threads(wanted_);
  } else if (MKL_Set_Num_Threads_Local != nullptr) {
    before_ = MKL_Set_Num_Threads_Local(wanted_);
  }
}

BlasThreads::~BlasThreads() {
  if (wanted_ == 0) return;
  if (openblas_set_num_threads != nullptr && openblas_get_num_threads != nullptr) {
    if (before_ != wanted_) openblas_set_num_threads(before_);
  } else if (MKL_Set_Num_Threads_Local != nullptr) {
    MKL_Set_Num_Threads_Local(before_);
  }
}

void multiply_by_blas(ElementType type, const MatrixRef& a, const MatrixRef& b, bool adds,
                      const MatrixRef& c) {
  if (type.kind == ElementKind::float32) multiply_as<float>(a, b, adds, c);
  if (type.kind == ElementKind::float64) multiply_as<double>(a, b, adds, c);
  if (type.kind == ElementKind::complex64) multiply_as<std::complex<float>>(a, b, adds, c);
  if (type.kind == ElementKind::complex128) multiply_as<std::complex<double>>(a, b, adds, c);
}

#else

BlasThreads::BlasThreads(const Execution&, std::int64_t) {}
BlasThreads::~BlasThreads() = default;

void multiply_by_blas(ElementType, const MatrixRef&, const MatrixRef&, bool, const MatrixRef&) {}

#endif

}  // namespace tessera::detail
