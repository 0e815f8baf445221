// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tessera/plan/plan.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "engine/scratch.hpp"

namespace tessera::detail {

/// Before the steps: the identity where the target has new Partial mesh dims.
void prepare_destination(const Execution& execution, const Movement& movement,
                         const ArrayRef& destination);
/// After the steps: scales what the rank holds where the target is a new P(avg).
void complete_destination(const Execution& execution, const Movement& movement,
                          const std::vector<Step>& steps, const ArrayRef& destination);

/// A phase among those of a plan.
struct PhaseNumber {
  std::size_t step = 0;
  std::size_t phase = 0;   ///< of the step
  std::size_t before = 0;  ///< phases of all steps before it

  const Phase& of(const std::vector<Step>& steps) const { return steps[step].phases[phase]; }
  PhaseNumber next(const std::vector<Step>& steps) const {
    if (phase + 1 < steps[step].phases.size()) return {step, phase + 1, before + 1};
    return {step + 1, 0, before + 1};
  }
  /// Which of two buffers holds its result: that of the phase before is in the other one.
  std::size_t buffer() const { return before % 2; }
};

/// `bytes` rounded up, so that what follows them in a buffer is aligned to a cache line.
constexpr std::int64_t aligned_bytes(std::int64_t bytes) {
  constexpr std::int64_t alignment = 64;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// They differ in their addresses at most.
bool are_alike(const ArrayRef& a, const ArrayRef& b);

/// Where a phase puts its result on this rank: the last one into the destination, as does the one
/// before it where the last one leaves it there; others to `free`, which moves on.
ArrayRef result_of_phase(const BoundPlan& bound, const PhaseNumber& number, int mesh_rank,
                         std::byte*& free);
/// Bytes to which result_of_phase() may point `free`, for all plans together.
std::int64_t intermediate_bytes(std::span<const BoundPlan> plans, const PhaseNumber& number,
                                int mesh_rank);

}  // namespace tessera::detail
