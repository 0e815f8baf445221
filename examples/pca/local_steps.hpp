// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <Kokkos_Core.hpp>

/// A rank runs these functions on its own rows: plain Kokkos on the default execution space,
/// without a mesh.
namespace pca {

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
using Vector = Kokkos::View<double*>;
using Scalar = Kokkos::View<double>;

/// Returns the policy that covers all pairs (i, j) with i < rows and j < columns.
inline auto indices(std::size_t rows, std::size_t columns) {
  return Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {rows, columns});
}

inline Vector column_sums(const Matrix& rows) {
  Vector sums("pca::column_sums", rows.extent(1));
  Kokkos::parallel_for(
      "pca::column_sums", sums.extent(0), KOKKOS_LAMBDA(std::size_t j) {
        for (std::size_t i = 0; i < rows.extent(0); ++i) sums(j) += rows(i, j);
      });
  return sums;
}

inline Matrix subtract_means(const Matrix& rows, const Vector& sums, double observations) {
  Matrix result("pca::subtract_means", rows.extent(0), rows.extent(1));
  Kokkos::parallel_for(
      "pca::subtract_means", indices(rows.extent(0), rows.extent(1)),
      KOKKOS_LAMBDA(std::size_t i, std::size_t j) {
        result(i, j) = rows(i, j) - sums(j) / observations;
      });
  return result;
}

inline Scalar sum_of_squares(const Matrix& x) {
  Scalar result("pca::sum_of_squares");
  Kokkos::parallel_reduce(
      "pca::sum_of_squares", indices(x.extent(0), x.extent(1)),
      KOKKOS_LAMBDA(std::size_t i, std::size_t j, double& sum) { sum += x(i, j) * x(i, j); },
      result);
  return result;
}

/// Returns scale x^T x.
inline Matrix scaled_gram_matrix(const Matrix& x, double scale) {
  Matrix result("pca::scaled_gram_matrix", x.extent(1), x.extent(1));
  Kokkos::parallel_for(
      "pca::scaled_gram_matrix", indices(x.extent(1), x.extent(1)),
      KOKKOS_LAMBDA(std::size_t p, std::size_t q) {
        double sum = 0;
        for (std::size_t i = 0; i < x.extent(0); ++i) sum += x(i, p) * x(i, q);
        result(p, q) = scale * sum;
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
