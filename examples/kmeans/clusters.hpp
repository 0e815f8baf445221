// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <tessera/tessera.hpp>

/// This part of the program computes on distributed tensors. All ranks call its functions together.
///
/// Here n is the number of rows, and k the number of clusters. The sum of a cluster's rows and
/// their number stand for its centre. For rows of whole numbers both are exact in any order of
/// summation, and so are their products with rows. From these, any number of ranks computes the
/// distances by the same four operations. So neither their bits nor the clusters depend on the
/// number of ranks.
namespace kmeans {

using tessera::DTensor, tessera::KeepDims;

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
using Numbers = Kokkos::View<std::int64_t*, Kokkos::LayoutRight>;
using NumberMatrix = Kokkos::View<std::int64_t**, Kokkos::LayoutRight>;

struct Clusters {
  DTensor<Matrix> sums;    ///< sum of the rows of each cluster: (k, columns), replicated
  DTensor<Matrix> counts;  ///< their number: (k, 1), replicated
};

struct Result {
  Clusters clusters;
  DTensor<NumberMatrix> nearest;  ///< the cluster of each row: (n, 1), split as the rows are
  int iterations;
  bool is_stable;  ///< whether the last iteration changed no centre
};

/// Returns the number of the nearest cluster of each row x: that with the least |c|^2 - 2 x c for
/// its centre c, the first one among equals. Nothing travels, as each rank holds all centres.
inline DTensor<NumberMatrix> nearest_clusters(const DTensor<Matrix>& x, const Clusters& clusters) {
  const auto& [sums, counts] = clusters;
  const auto squares = tessera::ops::sum(tessera::ops::square(sums), KeepDims{1}) / counts;
  const auto products = tessera::ops::matmul(x, transpose(sums));
  const auto scores = (transpose(squares) - 2 * products) / transpose(counts);
  return tessera::to<NumberMatrix>(tessera::ops::argmin(scores, KeepDims{1}));
}

/// Returns `now`, or `before` where a cluster has no rows.
struct UnlessEmpty {
  KOKKOS_FUNCTION double operator()(double count, double now, double before) const {
    return count > 0 ? now : before;
  }
};

/// Returns the clusters to which `nearest` assigns the rows. A cluster without rows keeps its
/// centre. Each rank contributes its own rows; one exchange adds up both tensors.
inline Clusters clusters_of(const DTensor<Matrix>& x, const DTensor<NumberMatrix>& nearest,
                            const Clusters& before) {
  const auto& mesh = x.device_mesh();
  const auto numbers =
      tessera::arange<Numbers>(mesh, tessera::Replicate(), before.counts.extent(0));
  const auto members = tessera::to<double>(tessera::ops::equal_to(nearest, numbers));  // (n, k)
  const auto one = tessera::ones<Matrix>(mesh, x.placements(), {x.extent(0), 1});
  const auto [sums, counts] = tessera::redistribute_all<Matrix>(std::array{
      tessera::ops::matmul(transpose(members), x), tessera::ops::matmul(transpose(members), one)});
  map_into(sums, UnlessEmpty(), counts, sums, before.sums);
  map_into(counts, UnlessEmpty(), counts, counts, before.counts);
  return {sums, counts};
}

/// Finds k clusters of the rows of x by Lloyd's algorithm, which begins with the first k rows as
/// centres. It ends when the centres stay, or after `most_iterations`.
inline Result find_clusters(const DTensor<Matrix>& x, std::int64_t k, int most_iterations) {
  const auto first_rows = slice(x, {0, k}, tessera::all);
  Clusters clusters{tessera::redistribute<Matrix>(first_rows),
                    tessera::ones<Matrix>(x.device_mesh(), tessera::Replicate(), {k, 1})};
  for (int iteration = 1;; ++iteration) {
    const auto nearest = nearest_clusters(x, clusters);
    const auto next = clusters_of(x, nearest, clusters);
    const bool is_stable = equal(next.sums, clusters.sums) && equal(next.counts, clusters.counts);
    if (is_stable || iteration == most_iterations) return {next, nearest, iteration, is_stable};
    clusters = next;
  }
}

}  // namespace kmeans
