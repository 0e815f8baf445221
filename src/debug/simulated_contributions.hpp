// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/placement/placement.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// Combines two 64-bit integers by `op`; they wrap. avg combines as sum.
std::int64_t combined(ReduceOp op, std::int64_t a, std::int64_t b);
std::int64_t identity_of(ReduceOp op);

/// Generates the contributions that the Partial mesh dims of a spec reduce; without such dims there
/// is one contribution.
struct SimulatedContributions {
  std::vector<int> mesh_shape;
  std::vector<int> mesh_dims = {};  ///< the Partial mesh dims, ascending
  ReduceOp op = ReduceOp::sum;
  std::int64_t number = 1;
  std::int64_t divisor = 1;  ///< product of the sizes of the mesh dims with avg

  explicit SimulatedContributions(const DTensorSpec& spec);

  /// Returns the contribution that `coordinate` holds: its row-major position over the Partial mesh
  /// dims.
  std::int64_t contribution_of(std::span<const int> coordinate) const;
  /// Returns the contribution with this number to the value `reduced`. All contributions, combined
  /// in any order, give `reduced`; averages may be divided at any stage, without remainder.
  ///
  /// Each contribution holds noise that the noise of the next one cancels, or that the op absorbs;
  /// one contribution holds the value, too.
  std::int64_t value(std::int64_t contribution, std::int64_t reduced) const;
};

}  // namespace tessera::detail
