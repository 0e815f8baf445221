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

/// The grid has n x n inner points of the unit square, at distance h = 1 / (n + 1).
namespace cg {

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
/// Names the type of a part of a Matrix.
using MatrixPart = Kokkos::View<double**, Kokkos::LayoutStride>;
using Index = Kokkos::Array<std::int64_t, 2>;

/// Returns u(x, y) = (x - x^3) (y - y^2) at a point of the grid. It is 0 on the boundary, and the
/// 5-point formula is exact for it because its fourth derivatives in x and in y are 0.
struct ExactSolution {
  std::int64_t n;

  KOKKOS_FUNCTION double operator()(const Index& index) const {
    const double h = 1 / static_cast<double>(n + 1);
    const double x = static_cast<double>(index[0] + 1) * h;
    const double y = static_cast<double>(index[1] + 1) * h;
    return (x - x * x * x) * (y - y * y);
  }
};

/// Returns -h^2 times the Laplacian of the exact solution at a point of the grid.
struct RightHandSide {
  std::int64_t n;

  KOKKOS_FUNCTION double operator()(const Index& index) const {
    const double h = 1 / static_cast<double>(n + 1);
    const double x = static_cast<double>(index[0] + 1) * h;
    const double y = static_cast<double>(index[1] + 1) * h;
    return h * h * (6 * x * (y - y * y) + 2 * (x - x * x * x));
  }
};

/// Writes -h^2 times the Laplacian of u to `result`, at this rank's points. `u` also has the
/// neighbours of these points: one row and one column more on each side.
inline void apply_laplacian(const Matrix& u, const Matrix& result) {
  if (result.size() == 0) return;
  Kokkos::parallel_for(
      "cg::apply_laplacian",
      Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {result.extent(0), result.extent(1)}),
      KOKKOS_LAMBDA(std::size_t i, std::size_t j) {
        result(i, j) =
            4 * u(i + 1, j + 1) - u(i, j + 1) - u(i + 2, j + 1) - u(i + 1, j) - u(i + 1, j + 2);
      });
}

/// Holds a field whose local piece lies in an array with ghost points around it. Those outside of
/// the square are always 0, the boundary value.
struct Field {
  Matrix padded;
  tessera::DTensor<MatrixPart> tensor;  ///< its local piece is the inside of `padded`
  MatrixPart patch;                     ///< part of `padded` that lies in the square
  tessera::Fetcher halo;                ///< fetches the patch, whose own points stay as they are
};

/// Makes a field of zeros. Collective over the mesh.
inline Field make_field(const tessera::DeviceMesh& mesh, const tessera::DTensorSpec& spec) {
  const auto first = spec.global_offset(mesh.rank()), shape = spec.local_shape(mesh.rank());
  using Indices = std::pair<std::int64_t, std::int64_t>;
  std::array<Indices, 2> inside, with_halo = {};  // of `padded`
  tessera::Box box{{0, 0}, {0, 0}};
  for (std::size_t d = 0; d < 2; ++d) {
    inside[d] = {1, shape[d] + 1};
    if (tessera::product(shape) == 0) continue;  // without points no neighbours are needed
    const auto begin = std::max<std::int64_t>(first[d] - 1, 0);
    const auto end = std::min(first[d] + shape[d] + 1, spec.shape()[d]);
    with_halo[d] = {begin - first[d] + 1, end - first[d] + 1};
    box.offset[d] = begin;
    box.shape[d] = end - begin;
  }
  const Matrix padded("cg::field", static_cast<std::size_t>(shape[0] + 2),
                      static_cast<std::size_t>(shape[1] + 2));
  const MatrixPart own = Kokkos::subview(padded, inside[0], inside[1]);
  const MatrixPart patch = Kokkos::subview(padded, with_halo[0], with_halo[1]);
  const auto tensor = from_local(own, mesh, spec);
  return {padded, tensor, patch, make_fetch(tensor, box)};
}

}  // namespace cg
