// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/comm/progress.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/named_region.hpp>

#include "redistribute/executor.hpp"
#include "redistribute/tuning.hpp"

namespace tessera::detail {
namespace {

std::size_t blocks(const std::vector<Step>& steps) {
  std::size_t result = 0;
  for (const auto& step : steps)
    for (const auto& phase : step.phases) result += phase.send.size() + phase.receive.size();
  return result;
}

bool are_of_same_kinds(const std::vector<Step>& a, const std::vector<Step>& b) {
  return std::ranges::equal(a, b, [](const Step& s, const Step& t) {
    return s.kind == t.kind && s.phases.size() == t.phases.size();
  });
}

}  // namespace

std::vector<std::vector<BoundPlan>> of_same_kinds(std::span<const BoundPlan> plans) {
  std::vector<std::vector<BoundPlan>> result;
  for (const auto& plan : plans) {
    const auto alike = std::ranges::find_if(result, [&](const std::vector<BoundPlan>& group) {
      return are_of_same_kinds(group.front().steps, plan.steps);
    });
    (alike == result.end() ? result.emplace_back() : *alike).push_back(plan);
  }
  return result;
}

ArrayRef nothing_like(const ArrayRef& array) {
  const auto none = Extents::filled(array.extents.size(), 0);
  return {nullptr, array.type, none, none, array.space};
}

void run_plans(const Execution& execution, std::span<const BoundPlan> plans, const Group& group,
               Scratch& scratch, const char* operation) {
  const NamedRegion region(operation);
  Run(execution, plans, group, scratch, operation).wait();
  if (uses_device(plans))
    finish(execution, operation);
  else
    finish_host(execution);
}

std::shared_ptr<void> taken_from(Scratch& scratch) {
  return std::make_shared<Scratch>(std::exchange(scratch, {}));
}

Executor::Executor(const Movement& movement, std::vector<Step> steps, const Group& group,
                   std::shared_ptr<Scratch> scratch)
    : movement_(movement),
      steps_(std::move(steps)),
      group_(group),
      scratch_(std::move(scratch)),
      keeps_phases_(blocks(steps_) <= most_kept_blocks),
      may_be_short_(!steps_.empty() && keeps_phases_ &&
                    ShortExchange::may_serve(movement_, steps_, group_)) {}

BoundPlan Executor::bound(const ArrayRef& source, const ArrayRef& destination,
                          const Scaling& scaling) {
  return {movement_, steps_, source, destination, keeps_phases_ ? &phases_ : nullptr, scaling};
}

void Executor::run(const Execution& execution, const BoundPlan& here, const char* operation) {
  keeping(
      group_.communicator,
      [&] {
        if (!run_short(execution, here, operation))
          run_plans(execution, {&here, 1}, group_, *scratch_, operation);
      },
      [&] { return taken_from(*scratch_); });
}

/// Runs the plan as a ShortExchange. Returns false, without doing anything, if that does not
/// suffice.
bool Executor::run_short(const Execution& execution, const BoundPlan& here, const char* operation) {
  if (!may_be_short_ || !here.is_plain() || ProgressMeter::is_wanted()) return false;
  auto& kept = short_exchange_;
  if (!kept || !kept->is_for(here)) kept.emplace(here, group_);
  return kept->run(execution, here, *scratch_, operation);
}

}  // namespace tessera::detail
