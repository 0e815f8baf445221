// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <Kokkos_Core.hpp>

#include <tessera/debug/detail/regions.hpp>

namespace tessera::detail {
namespace {

namespace tools = Kokkos::Tools::Experimental;

struct Region {
  std::uint64_t number;
  std::string name;
};

thread_local std::vector<Region> entered;
thread_local std::uint64_t ever_entered = 0;

struct Callbacks {
  std::mutex mutex;
  int watches = 0;
  tools::EventSet before;  ///< callbacks that other tools had set
};

Callbacks& callbacks() {
  static Callbacks instance;
  return instance;
}

void push(const char* name) {
  entered.push_back({ever_entered++, name});
  if (callbacks().before.push_region != nullptr) callbacks().before.push_region(name);
}

void pop() {
  if (!entered.empty()) entered.pop_back();
  if (callbacks().before.pop_region != nullptr) callbacks().before.pop_region();
}

}  // namespace

RegionWatch::RegionWatch() : first_(ever_entered) {
  auto& [mutex, watches, before] = callbacks();
  const std::lock_guard lock(mutex);
  if (watches++ > 0) return;
  before = tools::get_callbacks();
  tools::set_push_region_callback(push);
  tools::set_pop_region_callback(pop);
}

RegionWatch::~RegionWatch() {
  auto& [mutex, watches, before] = callbacks();
  const std::lock_guard lock(mutex);
  if (--watches > 0) return;
  tools::set_push_region_callback(before.push_region);
  tools::set_pop_region_callback(before.pop_region);
  entered.clear();
}

std::vector<std::string> RegionWatch::regions() const {
  std::vector<std::string> result;
  for (const auto& [number, name] : entered)
    if (number >= first_ && !name.starts_with("tessera::")) result.push_back(name);
  return result;
}

}  // namespace tessera::detail
