// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "dense.hpp"

namespace pca {

/// Holds eigenvalues, largest first, and their eigenvectors, one per column.
struct EigenPairs {
  std::vector<double> values;
  HostMatrix vectors;
};

/// Rotates columns p and q of `a`: (p, q) changes to (c p - s q, s p + c q).
inline void rotate_columns(const HostMatrix& a, std::int64_t p, std::int64_t q, double c,
                           double s) {
  for (std::int64_t i = 0; i < rows_of(a); ++i) {
    const double first = a(i, p);
    const double second = a(i, q);
    a(i, p) = c * first - s * second;
    a(i, q) = s * first + c * second;
  }
}

inline void rotate_rows(const HostMatrix& a, std::int64_t p, std::int64_t q, double c, double s) {
  for (std::int64_t i = 0; i < columns_of(a); ++i) {
    const double first = a(p, i);
    const double second = a(q, i);
    a(p, i) = c * first - s * second;
    a(q, i) = s * first + c * second;
  }
}

/// Makes a(p, q) zero by a rotation, which it applies to `a` from both sides and to the vectors.
inline void eliminate(const HostMatrix& a, const HostMatrix& vectors, std::int64_t p,
                      std::int64_t q) {
  if (a(p, q) == 0) return;
  const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const double tangent = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1.0)), theta);
  const double c = 1 / std::hypot(tangent, 1.0);
  const double s = tangent * c;
  rotate_columns(a, p, q, c, s);
  rotate_rows(a, p, q, c, s);
  rotate_columns(vectors, p, q, c, s);
}

/// Returns the square root of the sum of squares of all elements, or only of those off the
/// diagonal.
inline double norm(const HostMatrix& a, bool with_diagonal) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows_of(a); ++i)
    for (std::int64_t j = 0; j < columns_of(a); ++j)
      if (with_diagonal || i != j) sum += a(i, j) * a(i, j);
  return std::sqrt(sum);
}

inline EigenPairs sorted(const HostMatrix& diagonal, const HostMatrix& vectors) {
  std::vector<std::int64_t> order(diagonal.extent(0));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](auto i, auto j) { return diagonal(i, i) > diagonal(j, j); });
  EigenPairs result{{}, HostMatrix("pca::eigenvectors", vectors.extent(0), vectors.extent(1))};
  for (std::int64_t column = 0; column < columns_of(vectors); ++column) {
    const auto from = order[static_cast<std::size_t>(column)];
    result.values.push_back(diagonal(from, from));
    for (std::int64_t i = 0; i < rows_of(vectors); ++i)
      result.vectors(i, column) = vectors(i, from);
  }
  return result;
}

/// Returns all eigenpairs of a small symmetric matrix, which it overwrites. Source: the cyclic
/// Jacobi method.
inline EigenPairs jacobi(const HostMatrix& a) {
  constexpr int most_sweeps = 50;
  const auto n = rows_of(a);
  HostMatrix vectors("pca::jacobi", a.extent(0), a.extent(0));
  for (std::int64_t i = 0; i < n; ++i) vectors(i, i) = 1;
  const double small = 1e-16 * norm(a, true);
  for (int sweep = 0; sweep < most_sweeps && norm(a, false) > small; ++sweep)
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) eliminate(a, vectors, p, q);
  return sorted(a, vectors);
}

}  // namespace pca
