// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <tessera/tessera.hpp>

#include "local_steps.hpp"
#include "subspace_iteration.hpp"

/// This part of the program computes on distributed tensors: by operators, and by local steps where
/// the library has no operator. All ranks call its functions together.
namespace pca {

using tessera::DTensor, tessera::local_map;
using tessera::Partial, tessera::Replicate, tessera::Shard;

using Region = Kokkos::Profiling::ScopedRegion;  ///< a level of the trace

/// Changes each row to the row minus the mean row. The mean is a Partial tensor, to which each rank
/// contributes its own rows; the subtraction reduces it in one exchange.
inline void centre(const DTensor<Matrix>& data) {
  const Region region("centre");
  data -= tessera::ops::mean(data, 0);
}

/// Returns the sum of the variances of all columns.
inline double total_variance(const DTensor<Matrix>& x) {
  const Region region("variance");
  return item(tessera::ops::sum(tessera::ops::var(x, 0)));
}

/// Returns the covariance matrix of centred data in row shards. Each contribution is as large as
/// the full matrix; the reduction goes directly to the rows that a rank keeps.
inline DTensor<Matrix> covariance(const DTensor<Matrix>& x) {
  const Region region("covariance");
  const auto multiply = local_map(gram_matrix, {Partial()}, {{Shard(0)}});
  return redistribute(multiply(x), {Shard(0)}) / static_cast<double>(x.extent(0) - 1);
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
