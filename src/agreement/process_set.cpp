// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <list>

#include "agreement/process_set.hpp"

namespace tessera::detail {

bool ProcessSet::contains(const ProcessSet& other) const {
  return this == &other || std::ranges::find(subsets, &other) != subsets.end();
}

ProcessSet& process_set(std::vector<int> processes) {
  // Never destroyed, as the registry.
  static auto& sets = *new std::list<ProcessSet>;
  std::ranges::sort(processes);
  const auto found = std::ranges::find(sets, processes, &ProcessSet::processes);
  if (found != sets.end()) return *found;
  ProcessSet made{std::move(processes)};
  for (auto& other : sets) {
    if (std::ranges::includes(made.processes, other.processes)) made.subsets.push_back(&other);
    if (std::ranges::includes(other.processes, made.processes)) made.generation += other.closed;
  }
  auto& result = sets.emplace_back(std::move(made));
  for (auto& other : sets)
    if (&other != &result && std::ranges::includes(other.processes, result.processes))
      other.subsets.push_back(&result);
  return result;
}

}  // namespace tessera::detail
