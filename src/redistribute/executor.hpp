// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For fetch: runs the steps of a plan on this rank, again and again.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tessera/comm/collectives.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "engine/run.hpp"
#include "engine/scratch.hpp"
#include "engine/short_exchange.hpp"

namespace tessera::detail {

/// Runs `plans`, which have steps of the same kinds. All is done on return.
void run_plans(const Execution& execution, std::span<const BoundPlan> plans, const Group& group,
               Scratch& scratch, const char* operation);

/// Groups plans that can run together: those whose steps are of the same kinds.
std::vector<std::vector<BoundPlan>> of_same_kinds(std::span<const BoundPlan> plans);

/// Returns an array like `array` without elements or memory, for a rank that has no part in it.
ArrayRef nothing_like(const ArrayRef& array);

/// An Executor holds the steps of this rank, and what one execution leaves for the next one: how
/// blocks travel between arrays of the same shapes and strides. One execution at a time.
class Executor {
 public:
  /// Several executors may use `scratch`, one at a time. The list of ranks in `group` must outlive
  /// the executor. Without steps, as off the mesh, it must not run.
  Executor(const Movement& movement, std::vector<Step> steps, const Group& group,
           std::shared_ptr<Scratch> scratch);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Movement& movement() const { return movement_; }
  const std::vector<Step>& steps() const { return steps_; }
  const Group& group() const { return group_; }
  Scratch& scratch() const { return *scratch_; }

  /// Returns the plan with these arrays, for a Run. The types of both may be others than that of the
  /// plan, in which elements travel; then the plan has no reductions, nor has one with a scaling.
  BoundPlan bound(const ArrayRef& source, const ArrayRef& destination, const Scaling& scaling = {});
  /// Runs the plan as a part of a call that the ranks have agreed on. All is done on return.
  void run(const Execution& execution, const BoundPlan& here, const char* operation);

 private:
  bool run_short(const Execution& execution, const BoundPlan& here, const char* operation);

  Movement movement_;
  std::vector<Step> steps_;
  Group group_;
  std::shared_ptr<Scratch> scratch_;
  bool keeps_phases_;
  std::vector<PhaseRun> phases_;  ///< last execution's phases; empty while it runs
  bool may_be_short_;
  std::optional<ShortExchange> short_exchange_;  ///< last one used
};

/// Returns the contents of `scratch`, which is empty afterwards.
std::shared_ptr<void> taken_from(Scratch& scratch);

}  // namespace tessera::detail
