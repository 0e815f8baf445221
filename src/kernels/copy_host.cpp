// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include <tessera/tensor/detail/launch.hpp>

#include "kernels/copy_loop.hpp"
#include "kernels/copy_plan.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {
namespace {

struct Task {
  std::size_t plan;
  std::int64_t first;
  std::int64_t last;
};

struct Work {
  std::vector<CopyPlan> plans;
  std::vector<Task> tasks;
};

CopyPlan part_of(const CopyPlan& plan, std::int64_t first_column, std::int64_t last_column) {
  CopyPlan part = plan;
  part.source += first_column * plan.source_column_stride;
  part.destination += first_column * plan.destination_column_stride;
  part.columns = last_column - first_column;
  return part;
}

/// Adds about `wanted` tasks for one copy. If it has fewer items than that, its columns are
/// divided, too.
void add_tasks(Work& work, const CopyPlan& plan, std::int64_t wanted) {
  const auto items = plan.rows.items();
  const auto column_parts = std::clamp<std::int64_t>(wanted / items, 1, plan.columns);
  const auto tasks = std::clamp<std::int64_t>(wanted / column_parts, 1, items);
  for (std::int64_t c = 0; c < column_parts; ++c) {
    for (std::int64_t t = 0; t < tasks; ++t)
      work.tasks.push_back({work.plans.size(), items * t / tasks, items * (t + 1) / tasks});
    work.plans.push_back(
        part_of(plan, plan.columns * c / column_parts, plan.columns * (c + 1) / column_parts));
  }
}

/// Adds the tasks of one copy. Long runs are divided, so that every thread gets a part.
void add_loop(Work& work, const CopyLoop& loop, std::int64_t bytes_per_task) {
  const auto part_bytes =
      std::max((bytes_per_task + cache_line - 1) / cache_line * cache_line, serial_bytes);
  for (std::int64_t begin = 0; begin < loop.run; begin += part_bytes) {
    CopyLoop part = loop;
    part.source += begin;
    part.destination += begin;
    part.run = std::min(part_bytes, loop.run - begin);
    add_tasks(work, make_copy_plan(part), part.bytes() / bytes_per_task);
  }
}

/// Executes one task per index. The kernel shares ownership of the work, because it may outlive the
/// call in an asynchronous host backend.
struct HostCopy {
  std::shared_ptr<const Work> work;

  void operator()(std::int64_t i) const {
    const auto& task = work->tasks[static_cast<std::size_t>(i)];
    run_copy_plan(work->plans[task.plan], task.first, task.last);
  }
};

}  // namespace

void copy_on_host(const Execution& execution, std::span<const CopyLoop> loops) {
  std::int64_t bytes = 0;
  for (const auto& loop : loops) bytes += loop.bytes();
  if (!is_for_threads(execution, bytes)) {
    finish_host(execution);
    for (const auto& loop : loops) {
      const auto plan = make_copy_plan(loop);
      run_copy_plan(plan, 0, plan.rows.items());
    }
    return;
  }
  const auto instance = execution.instance<MemorySpace::host>();
  const auto threads = static_cast<std::int64_t>(instance.concurrency());
  const auto bytes_per_task = std::max(serial_bytes, bytes / (tasks_per_thread * threads));
  auto work = std::make_shared<Work>();
  for (const auto& loop : loops) add_loop(*work, loop, bytes_per_task);
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>,
                          Kokkos::Schedule<Kokkos::Dynamic>>;
  Kokkos::parallel_for("tessera::detail::copy",
                       Policy(instance, 0, static_cast<std::int64_t>(work->tasks.size())),
                       HostCopy{work});
}

}  // namespace tessera::detail
