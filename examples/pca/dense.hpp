// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

namespace pca {

/// A small matrix in host memory that every rank holds in full.
using HostMatrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

inline std::int64_t rows_of(const HostMatrix& a) {
  return static_cast<std::int64_t>(a.extent(0));
}
inline std::int64_t columns_of(const HostMatrix& a) {
  return static_cast<std::int64_t>(a.extent(1));
}

/// Returns the sum over i of a(i, p) b(i, q).
inline double column_product(const HostMatrix& a, std::int64_t p, const HostMatrix& b,
                             std::int64_t q) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows_of(a); ++i) sum += a(i, p) * b(i, q);
  return sum;
}

/// Returns a^T b.
inline HostMatrix transposed_product(const HostMatrix& a, const HostMatrix& b) {
  HostMatrix result("pca::transposed_product", a.extent(1), b.extent(1));
  for (std::int64_t p = 0; p < columns_of(a); ++p)
    for (std::int64_t q = 0; q < columns_of(b); ++q) result(p, q) = column_product(a, p, b, q);
  return result;
}

/// Returns a b.
inline HostMatrix product(const HostMatrix& a, const HostMatrix& b) {
  HostMatrix result("pca::product", a.extent(0), b.extent(1));
  for (std::int64_t i = 0; i < rows_of(a); ++i)
    for (std::int64_t k = 0; k < columns_of(a); ++k)
      for (std::int64_t j = 0; j < columns_of(b); ++j) result(i, j) += a(i, k) * b(k, j);
  return result;
}

/// Makes the columns orthonormal in place, by two passes of Gram-Schmidt, so that rounding errors
/// do not matter. Expects independent columns.
inline void orthonormalise(const HostMatrix& a) {
  for (std::int64_t q = 0; q < columns_of(a); ++q) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t p = 0; p < q; ++p) {
        const double overlap = column_product(a, p, a, q);
        for (std::int64_t i = 0; i < rows_of(a); ++i) a(i, q) -= overlap * a(i, p);
      }
    const double norm = std::sqrt(column_product(a, q, a, q));
    for (std::int64_t i = 0; i < rows_of(a); ++i) a(i, q) /= norm;
  }
}

}  // namespace pca
