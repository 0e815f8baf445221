// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "peers.hpp"

extern "C" {
void dgemm_(const char* form_a, const char* form_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* leading_a, const double* b,
            const int* leading_b, const double* beta, double* c, const int* leading_c);
void dgemv_(const char* form, const int* rows, const int* columns, const double* alpha,
            const double* a, const int* leading, const double* x, const int* step_x,
            const double* beta, double* y, const int* step_y);
}

namespace tessera::perf {

const bool has_blas = true;

namespace {

constexpr double zero = 0, one = 1;

template <class View>
int extent(const View& view, std::size_t dim) {
  return static_cast<int>(view.extent(dim));
}

int leading(const ColumnMajor& matrix) {
  return std::max(1, static_cast<int>(matrix.stride(1)));
}
int leading(const RowMajor& matrix) {
  return std::max(1, static_cast<int>(matrix.stride(0)));
}

}  // namespace

void multiply_by_blas(const ColumnMajor& a, const ColumnMajor& b, const ColumnMajor& c) {
  const int m = extent(c, 0), n = extent(c, 1), k = extent(a, 1);
  const int leading_a = leading(a), leading_b = leading(b), leading_c = leading(c);
  dgemm_("N", "N", &m, &n, &k, &one, a.data(), &leading_a, b.data(), &leading_b, &zero, c.data(),
         &leading_c);
}

void multiply_by_blas(const RowMajor& a, const RowMajor& b, const RowMajor& c) {
  // What lies row by row is the transposed matrix to a BLAS, and so is the product.
  const int m = extent(c, 1), n = extent(c, 0), k = extent(a, 1);
  const int leading_a = leading(a), leading_b = leading(b), leading_c = leading(c);
  dgemm_("N", "N", &m, &n, &k, &one, b.data(), &leading_b, a.data(), &leading_a, &zero, c.data(),
         &leading_c);
}

void multiply_by_blas(const RowMajor& a, const Vector& x, const Vector& y) {
  const int rows = extent(a, 1), columns = extent(a, 0), step = 1;
  const int leading_a = leading(a);
  dgemv_("T", &rows, &columns, &one, a.data(), &leading_a, x.data(), &step, &zero, y.data(), &step);
}

}  // namespace tessera::perf
