// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <tessera/tessera.hpp>

/// The grid has n x n inner points of the unit square, at distance h = 1 / (n + 1). The state is 0
/// on the boundary.
namespace heat {

using Device = Kokkos::DefaultExecutionSpace::device_type;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Device>;
/// Names the type of a part of a Matrix.
using MatrixPart = Kokkos::View<double**, Kokkos::LayoutStride, Device>;
using Cube = Kokkos::View<double***, Kokkos::LayoutRight, Device>;
using Vector = Kokkos::View<double*, Kokkos::LayoutRight, Device>;

/// Gives the length of a time step, in units of h^2. Up to 1/4 the explicit step is stable.
constexpr double time_step = 0.2;

/// Returns sin(i pi x) sin(j pi y) at a point of the grid. The last index counts the modes
/// (i, j) = (1, 1), (1, 2), (2, 1).
struct Mode {
  std::int64_t n;

  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 3>& index) const {
    const double pi_h = Kokkos::numbers::pi / static_cast<double>(n + 1);
    const double i = index[2] == 2 ? 2 : 1, j = index[2] == 1 ? 2 : 1;
    return Kokkos::sin(i * pi_h * static_cast<double>(index[0] + 1)) *
           Kokkos::sin(j * pi_h * static_cast<double>(index[1] + 1));
  }
};

/// Writes u + time_step h^2 (Laplacian of u) to `result`, at this rank's points. `u` also has the
/// neighbours of these points: one row and one column more on each side.
inline void take_step(const Matrix& u, const Matrix& result) {
  if (result.size() == 0) return;
  Kokkos::parallel_for(
      "heat::take_step",
      Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {result.extent(0), result.extent(1)}),
      KOKKOS_LAMBDA(std::size_t i, std::size_t j) {
        const double neighbours = u(i, j + 1) + u(i + 2, j + 1) + u(i + 1, j) + u(i + 1, j + 2);
        result(i, j) = (1 - 4 * time_step) * u(i + 1, j + 1) + time_step * neighbours;
      });
}

/// Returns an element, and 0 for indices outside of the View. Indices count from 1.
KOKKOS_FUNCTION inline double element_or_zero(const Matrix& x, std::size_t i, std::size_t j) {
  const bool is_inside = i >= 1 && i <= x.extent(0) && j >= 1 && j <= x.extent(1);
  return is_inside ? x(i - 1, j - 1) : 0;
}

/// Writes what this rank's points contribute to the gradients of all values that take_step() reads
/// for them: the transpose of take_step(). `dv` is the gradient of the result, and `du` that of
/// `u`.
inline void transpose_step(const Matrix& dv, const Matrix& du) {
  if (dv.size() == 0) return;
  Kokkos::parallel_for(
      "heat::transpose_step",
      Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {du.extent(0), du.extent(1)}),
      KOKKOS_LAMBDA(std::size_t i, std::size_t j) {
        const double neighbours = element_or_zero(dv, i + 1, j) + element_or_zero(dv, i, j + 1) +
                                  (i > 0 ? element_or_zero(dv, i - 1, j) : 0) +
                                  (j > 0 ? element_or_zero(dv, i, j - 1) : 0);
        du(i, j) = (1 - 4 * time_step) * element_or_zero(dv, i, j) + time_step * neighbours;
      });
}

/// Holds this rank's points with one row and one column more on each side.
struct Padded {
  Matrix all;
  MatrixPart in_square;  ///< leaves out what lies outside of the square
};

/// Computes time steps of the heat equation, and their adjoints.
class Heat {
 public:
  /// Works on states of this spec. Collective over the mesh.
  Heat(const tessera::DeviceMesh& mesh, const tessera::DTensorSpec& spec)
      : box_(box_of(mesh, spec)),
        values_(make_padded(mesh, spec)),
        gradients_(make_padded(mesh, spec)),
        halo_(tessera::make_fetch<Matrix, MatrixPart>(mesh, spec, box_)) {}

  /// Returns the state one time step later. Collective over the mesh: one exchange.
  tessera::DTensor<Matrix> forward(const tessera::DTensor<Matrix>& u) const {
    const auto v = tessera::ops::empty_like(u);
    halo_.fetch(u, values_.in_square);
    take_step(values_.all, v.to_local());
    return v;
  }

  /// Returns the gradient with respect to u, where `dv` is the one with respect to forward(u). What
  /// was fetched from other ranks gets its gradient there: accumulate() is the adjoint of fetch().
  /// Collective over the mesh: one exchange.
  ///
  /// The step is symmetric, so that forward(dv) would give the same. A stencil whose coefficients
  /// differ from point to point is not, and has an adjoint of this form.
  tessera::DTensor<Matrix> adjoint(const tessera::DTensor<Matrix>& dv) const {
    const auto du = tessera::ops::zeros_like(dv);
    transpose_step(dv.to_local(), gradients_.all);
    halo_.accumulate(du, gradients_.in_square);
    return du;
  }

 private:
  /// Returns this rank's points and their neighbours in the square.
  static tessera::Box box_of(const tessera::DeviceMesh& mesh, const tessera::DTensorSpec& spec) {
    const auto first = spec.global_offset(mesh.rank()), shape = spec.local_shape(mesh.rank());
    tessera::Box box{{0, 0}, {0, 0}};
    if (tessera::product(shape) == 0) return box;  // without points no neighbours are needed
    for (std::size_t d = 0; d < 2; ++d) {
      box.offset[d] = std::max<std::int64_t>(first[d] - 1, 0);
      box.shape[d] = std::min(first[d] + shape[d] + 1, spec.shape()[d]) - box.offset[d];
    }
    return box;
  }

  /// Makes an array of zeros.
  Padded make_padded(const tessera::DeviceMesh& mesh, const tessera::DTensorSpec& spec) const {
    const auto first = spec.global_offset(mesh.rank()), shape = spec.local_shape(mesh.rank());
    const Matrix all("heat::padded", static_cast<std::size_t>(shape[0] + 2),
                     static_cast<std::size_t>(shape[1] + 2));
    std::array<std::pair<std::int64_t, std::int64_t>, 2> part = {};
    for (std::size_t d = 0; d < 2; ++d) {
      if (tessera::product(shape) == 0) continue;
      const auto begin = box_.offset[d] - first[d] + 1;
      part[d] = {begin, begin + box_.shape[d]};
    }
    return {all, Kokkos::subview(all, part[0], part[1])};
  }

  tessera::Box box_;
  Padded values_;  ///< 0 outside of the square
  Padded gradients_;
  tessera::Fetcher halo_;
};

}  // namespace heat
