// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Layers of a few numbers, and plain loops that compute what they compute.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/nn/distribute_module.hpp>
#include <tessera/nn/linear.hpp>
#include <tessera/nn/partition.hpp>

#include "../ops/named.hpp"

namespace tessera::test {

using Tensor3 = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
using Tensor4 = Kokkos::View<double****, Kokkos::LayoutLeft, TestSpace>;

/// Gives numbers between -1 and 1, complex ones where elements are complex.
template <class T>
struct SomeNumbers {
  std::int64_t seed;

  template <std::size_t N>
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, N>& index) const {
    std::int64_t number = seed;
    for (std::size_t d = 0; d < N; ++d) number = number * 31 + index[d] * 7 + 3;
    const auto first = static_cast<double>(number % 59 - 29) / 29;
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(first);
    else
      return T(static_cast<typename T::value_type>(first),
               static_cast<typename T::value_type>(number % 23 - 11) / 11);
  }
};

template <class V>
DTensor<V> some_numbers(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                        std::int64_t seed) {
  return from_function<V>(mesh, target, shape, SomeNumbers<typename V::value_type>{seed});
}

/// Returns the number whose real and imaginary parts are uniform in ±1/sqrt(in_features), given one in [0, 1).
inline double centred(double u, std::int64_t in_features) {
  return (2 * u - 1) * (1 / std::sqrt(static_cast<double>(in_features)));
}
inline float centred(float u, std::int64_t in_features) {
  return (2 * u - 1) * static_cast<float>(1 / std::sqrt(static_cast<double>(in_features)));
}
template <class T>
Kokkos::complex<T> centred(const Kokkos::complex<T>& u, std::int64_t in_features) {
  return {centred(u.real(), in_features), centred(u.imag(), in_features)};
}

/// Returns a b of row-major matrices (m, k) and (k, n), or (n, k) if `b_is_transposed`; or of (k, m) if
/// `a_is_transposed`.
template <class T>
std::vector<T> product_of(const std::vector<T>& a, const std::vector<T>& b, std::size_t m,
                          std::size_t k, std::size_t n, bool a_is_transposed,
                          bool b_is_transposed) {
  std::vector<T> result(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l)
        result[i * n + j] +=
            a[a_is_transposed ? l * m + i : i * k + l] * b[b_is_transposed ? j * k + l : l * n + j];
  return result;
}

/// Returns x Wᵀ + b of row-major arrays; without a bias if b is empty.
template <class T>
std::vector<T> linear_of(const std::vector<T>& x, const std::vector<T>& weight,
                         const std::vector<T>& bias, std::size_t in, std::size_t out) {
  auto result = product_of(x, weight, x.size() / in, in, out, false, true);
  if (!bias.empty())
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += bias[i % out];
  return result;
}

/// Returns the largest distance of elements; infinity for lists of different lengths.
template <class A, class B>
double distance_of(const A& a, const B& b) {
  if (a.size() != b.size()) return infinity;
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    result = std::max(result, static_cast<double>(Kokkos::abs(a[i] - b[i])));
  return result;
}

/// Places the parts of a layer.
enum class Split { replicated, columns, rows };

struct SplitLayer {
  Split split;
  MeshDim mesh_dim = 0;

  void operator()(const std::string&, nn::Module& module, const DeviceMesh& mesh) const {
    if (split == Split::columns) nn::column_parallel(module, mesh, mesh_dim);
    if (split == Split::rows) nn::row_parallel(module, mesh, mesh_dim);
  }
};

/// Returns the placements with one along the last mesh dim, and another one along the others.
inline Target along_last(const DeviceMesh& mesh, const Placement& last,
                         const Placement& others = Replicate()) {
  std::vector<Placement> result(static_cast<std::size_t>(mesh.ndim()), others);
  result.back() = last;
  return Target(result);
}

}  // namespace tessera::test
