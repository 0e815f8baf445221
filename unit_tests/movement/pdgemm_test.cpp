// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// PDGEMM of ScaLAPACK on the local pieces of tensors, which descriptor() describes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../support/tensors.hpp"
#include "cases.hpp"

extern "C" {
void Cblacs_get(int context, int request, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
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

/// Sets c = alpha a·b + beta c, by ScaLAPACK.
void pdgemm(double alpha, const DTensor<Columns>& a, const DTensor<Columns>& b, double beta,
            const DTensor<Columns>& c) {
  int context = 0;
  Cblacs_get(-1, 0, &context);
  const auto grid = a.device_mesh().shape();
  Cblacs_gridinit(&context, "Row", static_cast<int>(grid[0]), static_cast<int>(grid[1]));
  const auto descriptor_a = descriptor(a, context);
  const auto descriptor_b = descriptor(b, context);
  const auto descriptor_c = descriptor(c, context);
  const int m = static_cast<int>(c.shape()[0]);
  const int n = static_cast<int>(c.shape()[1]);
  const int k = static_cast<int>(a.shape()[1]);
  const int one = 1;
  pdgemm_("N", "N", &m, &n, &k, &alpha, a.to_local().data(), &one, &one, descriptor_a.data(),
          b.to_local().data(), &one, &one, descriptor_b.data(), &beta, c.to_local().data(), &one,
          &one, descriptor_c.data());
  Cblacs_gridexit(context);
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

}  // namespace
