// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

/// This part of the program computes the same on one rank, in plain loops, to compare with.
namespace kmeans {

using HostMatrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct SerialClusters {
  HostMatrix sums;             ///< sum of the rows of each cluster
  std::vector<double> counts;  ///< their number
};

/// Returns |c|^2 - 2 x c for a row x and the centre c of a cluster. The operations are those of
/// nearest_clusters() of tensors, in their order.
inline double score(const HostMatrix& x, std::size_t row, const SerialClusters& clusters,
                    std::size_t cluster) {
  double square = 0, product = 0;
  for (std::size_t j = 0; j < x.extent(1); ++j) {
    square += clusters.sums(cluster, j) * clusters.sums(cluster, j);
    product += x(row, j) * clusters.sums(cluster, j);
  }
  const double count = clusters.counts[cluster];
  return (square / count - 2 * product) / count;
}

inline std::vector<std::int64_t> nearest_clusters(const HostMatrix& x,
                                                  const SerialClusters& clusters) {
  std::vector<std::int64_t> result;
  for (std::size_t row = 0; row < x.extent(0); ++row) {
    std::size_t nearest = 0;
    double least = score(x, row, clusters, 0);
    for (std::size_t cluster = 1; cluster < clusters.counts.size(); ++cluster)
      if (const double other = score(x, row, clusters, cluster); other < least) {
        least = other;
        nearest = cluster;
      }
    result.push_back(static_cast<std::int64_t>(nearest));
  }
  return result;
}

inline SerialClusters clusters_of(const HostMatrix& x, const std::vector<std::int64_t>& nearest,
                                  const SerialClusters& before) {
  SerialClusters result{HostMatrix("kmeans::sums", before.sums.extent(0), before.sums.extent(1)),
                        std::vector<double>(before.counts.size(), 0)};
  for (std::size_t row = 0; row < x.extent(0); ++row) {
    const auto cluster = static_cast<std::size_t>(nearest[row]);
    result.counts[cluster] += 1;
    for (std::size_t j = 0; j < x.extent(1); ++j) result.sums(cluster, j) += x(row, j);
  }
  for (std::size_t cluster = 0; cluster < result.counts.size(); ++cluster) {
    if (result.counts[cluster] > 0) continue;
    result.counts[cluster] = before.counts[cluster];
    for (std::size_t j = 0; j < x.extent(1); ++j) result.sums(cluster, j) = before.sums(cluster, j);
  }
  return result;
}

/// Returns the cluster of each row after `iterations` iterations of Lloyd's algorithm.
inline std::vector<std::int64_t> serial_assignment(const HostMatrix& x, std::size_t k,
                                                   int iterations) {
  SerialClusters clusters{HostMatrix("kmeans::sums", k, x.extent(1)), std::vector<double>(k, 1)};
  for (std::size_t cluster = 0; cluster < k; ++cluster)
    for (std::size_t j = 0; j < x.extent(1); ++j) clusters.sums(cluster, j) = x(cluster, j);
  std::vector<std::int64_t> nearest;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    nearest = nearest_clusters(x, clusters);
    clusters = clusters_of(x, nearest, clusters);
  }
  return nearest;
}

}  // namespace kmeans
