// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <Kokkos_Core.hpp>

/// A rank runs these functions on its own rows: plain Kokkos on the default execution space,
/// without a mesh.
namespace pca {

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;

/// Returns the policy that covers all pairs (i, j) with i < rows and j < columns.
inline auto indices(std::size_t rows, std::size_t columns) {
  return Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {rows, columns});
}

/// Returns x^T x.
inline Matrix gram_matrix(const Matrix& x) {
  Matrix result("pca::gram_matrix", x.extent(1), x.extent(1));
  Kokkos::parallel_for(
      "pca::gram_matrix", indices(x.extent(1), x.extent(1)),
      KOKKOS_LAMBDA(std::size_t p, std::size_t q) {
        double sum = 0;
        for (std::size_t i = 0; i < x.extent(0); ++i) sum += x(i, p) * x(i, q);
        result(p, q) = sum;
      });
  return result;
}

/// Returns a b.
inline Matrix rows_times(const Matrix& a, const Matrix& b) {
  Matrix result("pca::rows_times", a.extent(0), b.extent(1));
  Kokkos::parallel_for(
      "pca::rows_times", indices(a.extent(0), b.extent(1)),
      KOKKOS_LAMBDA(std::size_t i, std::size_t j) {
        double sum = 0;
        for (std::size_t k = 0; k < b.extent(0); ++k) sum += a(i, k) * b(k, j);
        result(i, j) = sum;
      });
  return result;
}

}  // namespace pca
