// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <tessera/tessera.hpp>

#include "local_steps.hpp"
#include "subspace_iteration.hpp"

/// This part of the program applies the local steps to distributed tensors. All ranks call its
/// functions together.
namespace pca {

using tessera::DTensor, tessera::local_map;
using tessera::Partial, tessera::Replicate, tessera::Shard;

using Region = Kokkos::Profiling::ScopedRegion;  ///< a level of the trace

/// Returns the rows minus the mean row. Each rank sums its own rows; these sums are the
/// contributions to a Partial tensor, which one reduction adds up.
inline DTensor<Matrix> centred(const DTensor<Matrix>& data) {
  const Region region("centred");
  const auto sum = local_map(column_sums, {Partial()}, {{Shard(0)}});
  const auto subtract =
      local_map(subtract_means, tessera::like_input(0), {{Shard(0)}, {Replicate()}, std::nullopt});
  return subtract(data, reduce_partial(sum(data)), static_cast<double>(data.extent(0)));
}

/// Returns the sum of the variances of all columns of centred data.
inline double total_variance(const DTensor<Matrix>& x) {
  const auto sum = local_map(sum_of_squares, {Partial()}, {{Shard(0)}});
  return item(reduce_partial(sum(x))) / static_cast<double>(x.extent(0) - 1);
}

/// Returns the covariance matrix of centred data in row shards. Each contribution is as large as
/// the full matrix; the reduction goes directly to the rows that a rank keeps.
inline DTensor<Matrix> covariance(const DTensor<Matrix>& x) {
  const Region region("covariance");
  const auto multiply = local_map(scaled_gram_matrix, {Partial()}, {{Shard(0)}, std::nullopt});
  return redistribute(multiply(x, 1.0 / static_cast<double>(x.extent(0) - 1)), {Shard(0)});
}

template <class To, class From>
To copied_to(const From& from) {
  To result("pca::copied_to", from.extent(0), from.extent(1));
  Kokkos::deep_copy(result, from);
  return result;
}

/// Returns the `count` leading eigenpairs of a matrix in row shards, and further pairs that may not
/// be exact. The result has the same bits on every rank, because this holds for reductions and for
/// random numbers.
inline EigenPairs leading_eigenpairs(const DTensor<Matrix>& matrix, std::int64_t count) {
  const Region region("eigenpairs");
  const auto& mesh = matrix.device_mesh();
  const tessera::Extents shape{matrix.extent(0), std::min(matrix.extent(0), count + 10)};
  const auto multiply =
      local_map(rows_times, tessera::shaped({Shard(0)}, shape), {{Shard(0)}, {Replicate()}});
  const auto start = tessera::randn<Matrix>(mesh, {Replicate()}, shape);
  return leading_eigenpairs(
      copied_to<HostMatrix>(start.to_local()), count, [&](const HostMatrix& basis) {
        const auto replicated = from_local(copied_to<Matrix>(basis), mesh, {Replicate()}, shape);
        return copied_to<HostMatrix>(full_tensor(multiply(matrix, replicated)));
      });
}

}  // namespace pca
