// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/placement/placement.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// Of 64-bit integers; they wrap. avg as sum.
std::int64_t combined(ReduceOp op, std::int64_t a, std::int64_t b);
std::int64_t identity_of(ReduceOp op);

/// What the Partial mesh dims of a spec reduce, and terms made for it; without such dims there is
/// one term.
struct SimulatedTerms {
  std::vector<int> mesh_shape;
  std::vector<int> mesh_dims = {};  ///< that are Partial, ascending
  ReduceOp op = ReduceOp::sum;
  std::int64_t number = 1;
  std::int64_t divisor = 1;  ///< of averages

  explicit SimulatedTerms(const DTensorSpec& spec);

  /// Row-major over the Partial mesh dims.
  std::int64_t term_of(std::span<const int> coordinate) const;
  /// A term of `reduced`: that is what all terms make, combined in any order and divided, now or
  /// later, without a rest.
  ///
  /// Terms hold noise that cancels that of the next one, or that the op absorbs; one of them holds
  /// the value.
  std::int64_t value(std::int64_t term, std::int64_t reduced) const;
};

}  // namespace tessera::detail
