// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "jacobi.hpp"

namespace pca {

struct Convergence {
  double tolerance = 1e-11;  ///< largest residual norm, relative to the largest eigenvalue
  int most_iterations = 10000;
};

/// Returns the largest norm |A v - value v| of the first `count` pairs; `images` is A times the
/// vectors.
inline double largest_residual(const EigenPairs& pairs, const HostMatrix& images,
                               std::int64_t count) {
  double largest = 0;
  for (std::int64_t q = 0; q < count; ++q) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows_of(images); ++i) {
      const auto value = pairs.values[static_cast<std::size_t>(q)];
      const double residual = images(i, q) - value * pairs.vectors(i, q);
      sum += residual * residual;
    }
    largest = std::max(largest, std::sqrt(sum));
  }
  return largest;
}

/// Returns the best approximations of eigenpairs of A in the span of an orthonormal basis
/// (Rayleigh-Ritz). `images`, A times the basis, becomes A times the vectors.
inline EigenPairs ritz_pairs(const HostMatrix& basis, HostMatrix& images) {
  auto small = jacobi(transposed_product(basis, images));
  images = product(images, small.vectors);
  return {small.values, product(basis, small.vectors)};
}

/// Returns the next basis: (A + shift) times the vectors, orthonormalised. The shift keeps the
/// basis from losing dims where A is singular.
inline HostMatrix next_basis(const EigenPairs& pairs, const HostMatrix& images) {
  const double shift = pairs.values[0] > 0 ? 1e-3 * pairs.values[0] : 1;
  HostMatrix basis("pca::basis", images.extent(0), images.extent(1));
  for (std::int64_t i = 0; i < rows_of(basis); ++i)
    for (std::int64_t q = 0; q < columns_of(basis); ++q)
      basis(i, q) = images(i, q) + shift * pairs.vectors(i, q);
  orthonormalise(basis);
  return basis;
}

/// Returns the `count` leading eigenpairs of a symmetric, positive semidefinite A, of which only
/// multiply(basis) = A basis is known. After them come the other pairs that the basis spans.
///
/// `basis` begins as any independent columns, more than `count` for speed. Source: subspace
/// iteration with Rayleigh-Ritz projection.
template <class Multiply>
EigenPairs leading_eigenpairs(HostMatrix basis, std::int64_t count, const Multiply& multiply,
                              const Convergence& convergence = {}) {
  orthonormalise(basis);
  for (int iteration = 1;; ++iteration) {
    HostMatrix images = multiply(basis);
    auto pairs = ritz_pairs(basis, images);
    const double goal = convergence.tolerance * std::abs(pairs.values[0]);
    if (iteration == convergence.most_iterations || largest_residual(pairs, images, count) <= goal)
      return pairs;
    basis = next_basis(pairs, images);
  }
}

}  // namespace pca
