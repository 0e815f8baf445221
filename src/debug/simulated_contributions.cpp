// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <tessera/extents/hash.hpp>

#include "debug/simulated_contributions.hpp"
#include "plan/cells.hpp"

namespace tessera::detail {
namespace {

std::uint64_t wrapping(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

/// Returns a pseudo-random number below 2^16: so small that sums of averages do not wrap.
std::int64_t noise(std::int64_t value, std::int64_t contribution) {
  return static_cast<std::int64_t>(hash_combine(wrapping(value), wrapping(contribution)) & 0xffff);
}

/// Returns the inverse of an odd number modulo 2^64, by Newton's method: each step doubles the
/// number of correct bits, which is three at first.
std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t result = odd;
  for (int bits = 3; bits < 64; bits *= 2) result *= 2 - odd * result;
  return result;
}

}  // namespace

SimulatedContributions::SimulatedContributions(const DTensorSpec& spec)
    : mesh_shape(spec.layout().shape()) {
  for (int d = 0; d < std::ssize(mesh_shape); ++d) {
    const auto& placement = spec.placements()[at(d)];
    if (!placement.is_partial()) continue;
    mesh_dims.push_back(d);
    number *= mesh_shape[at(d)];
    if (placement.is_partial(ReduceOp::avg))
      divisor *= mesh_shape[at(d)];
    else
      op = placement.op();
  }
}

std::int64_t SimulatedContributions::contribution_of(std::span<const int> coordinate) const {
  std::int64_t contribution = 0;
  for (const int d : mesh_dims) contribution = contribution * mesh_shape[at(d)] + coordinate[at(d)];
  return contribution;
}

std::int64_t SimulatedContributions::value(std::int64_t contribution, std::int64_t reduced) const {
  const bool has_value = reduced % number == contribution;
  const auto own = noise(reduced, contribution);
  const auto next = noise(reduced, (contribution + 1) % number);
  switch (op) {
    case ReduceOp::product:
      return static_cast<std::int64_t>((has_value ? wrapping(reduced) : 1) * wrapping(2 * own + 1) *
                                       inverse(wrapping(2 * next + 1)));
    case ReduceOp::min:
      return has_value ? reduced : reduced + 1 + own;
    case ReduceOp::max:
      return has_value ? reduced : reduced - 1 - own;
    case ReduceOp::band:
      return has_value ? reduced : reduced | own;
    case ReduceOp::bor:
      return has_value ? reduced : reduced & own;
    case ReduceOp::bxor:
      return own ^ next ^ (has_value ? reduced : 0);
    default:
      return divisor * (own - next + (has_value ? reduced : 0));
  }
}

std::int64_t identity_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::product:
      return 1;
    case ReduceOp::min:
      return std::numeric_limits<std::int64_t>::max();
    case ReduceOp::max:
      return std::numeric_limits<std::int64_t>::min();
    case ReduceOp::band:
      return -1;
    default:
      return 0;
  }
}

std::int64_t combined(ReduceOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ReduceOp::product:
      return static_cast<std::int64_t>(wrapping(a) * wrapping(b));
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
    case ReduceOp::band:
      return a & b;
    case ReduceOp::bor:
      return a | b;
    case ReduceOp::bxor:
      return a ^ b;
    default:
      return static_cast<std::int64_t>(wrapping(a) + wrapping(b));
  }
}

}  // namespace tessera::detail
