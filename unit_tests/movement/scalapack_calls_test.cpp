// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// ScaLAPACK on the local pieces of tensors, which descriptor() describes: PDGEMM multiplies them, and
// PDGEMR2D moves them as redistribute() does.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../support/scalapack.hpp"
#include "../support/tensors.hpp"
#include "cases.hpp"

extern "C" {
void pdgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
             const int* k, const double* alpha, const double* a, const int* ia, const int* ja,
             const int* descriptor_a, const double* b, const int* ib, const int* jb,
             const int* descriptor_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* descriptor_c);
}

namespace {

using namespace tessera;
using namespace tessera::test;

using Columns = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// Sets c = alpha a·b + beta c.
void pdgemm(double alpha, const DTensor<Columns>& a, const DTensor<Columns>& b, double beta,
            const DTensor<Columns>& c) {
  const auto mesh = a.device_mesh().shape();
  const ProcessGrid grid(static_cast<int>(mesh[0]), static_cast<int>(mesh[1]));
  const auto descriptor_a = descriptor(a, grid.context());
  const auto descriptor_b = descriptor(b, grid.context());
  const auto descriptor_c = descriptor(c, grid.context());
  const int m = static_cast<int>(c.shape()[0]);
  const int n = static_cast<int>(c.shape()[1]);
  const int k = static_cast<int>(a.shape()[1]);
  const int one = 1;
  pdgemm_("N", "N", &m, &n, &k, &alpha, a.to_local().data(), &one, &one, descriptor_a.data(),
          b.to_local().data(), &one, &one, descriptor_b.data(), &beta, c.to_local().data(), &one,
          &one, descriptor_c.data());
}

/// Returns the largest error of any element, relative to the sum of magnitudes of its terms.
double largest_error(const Columns& a, const Columns& b, const Columns& c_before,
                     const Columns& c) {
  double worst = 0;
  for (std::size_t i = 0; i < c.extent(0); ++i)
    for (std::size_t j = 0; j < c.extent(1); ++j) {
      long double expected = 0.5L * c_before(i, j);
      long double magnitude = std::abs(expected);
      for (std::size_t k = 0; k < a.extent(1); ++k) {
        const auto term = 2.0L * a(i, k) * b(k, j);
        expected += term;
        magnitude += std::abs(term);
      }
      const auto error = std::abs(expected - c(i, j)) / magnitude;
      worst = std::max(worst, static_cast<double>(error));
    }
  return worst;
}

std::vector<std::pair<int, int>> grids(int ranks) {
  std::vector<std::pair<int, int>> result;
  for (int rows = 1; rows <= ranks; ++rows)
    if (ranks % rows == 0) result.emplace_back(rows, ranks / rows);
  return result;
}

TEST(Pdgemm, multiplies_tensors) {
  for (const auto& [rows, columns] : grids(world_size())) {
    const auto mesh = mesh_of({rows, columns});
    for (const auto& [mb, nb, kb] :
         {std::array{2, 3, 2}, std::array{5, 4, 7}, std::array{16, 16, 16}}) {
      const auto matrix = [&](int m, int n, std::int64_t height, std::int64_t width) {
        return rand<Columns>(mesh, {Cyclic(0, m), Cyclic(1, n)}, {height, width});
      };
      const auto a = matrix(mb, kb, 45, 38);
      const auto b = matrix(kb, nb, 38, 52);
      const auto c = matrix(mb, nb, 45, 52);
      const Columns before("before", 45, 52);
      Kokkos::deep_copy(before, full_tensor(c));  // on one rank this is c itself
      pdgemm(2, a, b, 0.5, c);
      EXPECT_LT(largest_error(full_tensor(a), full_tensor(b), before, full_tensor(c)), 1e-12)
          << rows << " by " << columns << " ranks";
    }
  }
}

TEST(Pdgemr2d, gives_the_local_matrices_of_redistribute) {
  for (const auto& [rows, columns] : grids(world_size()))
    for (const auto& [other_rows, other_columns] : grids(world_size())) {
      const auto mesh = mesh_of({rows, columns});
      const auto other = mesh_of({other_rows, other_columns});
      const ProcessGrid grid(rows, columns);
      const ProcessGrid other_grid(other_rows, other_columns);
      for (const auto& [m, n] : {std::array{45, 38}, std::array{7, 64}, std::array{33, 3}}) {
        const auto a = rand<Columns>(mesh, {Cyclic(0, 4), Cyclic(1, 3)}, {m, n});
        const auto b = redistribute(a, other, {Cyclic(0, 2), Cyclic(1, 8)});
        const auto c = zeros<Columns>(other, {Cyclic(0, 2), Cyclic(1, 8)}, {m, n});
        const auto from = descriptor(a, grid.context());
        const auto to = descriptor(c, other_grid.context());
        Cpdgemr2d(m, n, a.to_local().data(), 1, 1, from.data(), c.to_local().data(), 1, 1,
                  to.data(), grid.context());
        const auto ours = b.to_local();
        const auto theirs = c.to_local();
        int different = 0;
        for (std::size_t i = 0; i < ours.extent(0); ++i)
          for (std::size_t j = 0; j < ours.extent(1); ++j)
            different += ours(i, j) != theirs(i, j) ? 1 : 0;
        EXPECT_EQ(different, 0) << rows << " by " << columns << " to " << other_rows << " by "
                                << other_columns;
      }
    }
}

}  // namespace
