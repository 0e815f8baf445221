// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <Kokkos_Core.hpp>

namespace tessera::test {

namespace tools = Kokkos::Tools::Experimental;

/// Holds the names of what Kokkos did, as its tools see it.
struct KokkosEvents {
  std::vector<std::string> kernels;
  std::vector<std::string> copies;  ///< labels of the targets of deep copies
  std::vector<std::string> allocations;
  std::vector<std::string> fences;  ///< fences of the default execution space
  std::vector<std::string> regions;
};

/// Records events while it lives; only one may live at a time. It leaves out the fences that Kokkos
/// makes itself, such as those before it frees memory. Kokkos reports a global fence once for each
/// execution space; only the report for the default execution space counts.
class RecordedEvents {
 public:
  RecordedEvents() : before_(tools::get_callbacks()) {
    events() = {};
    const auto kernel = [](const char* name, std::uint32_t, std::uint64_t*) {
      events().kernels.emplace_back(name);
    };
    tools::set_begin_parallel_for_callback(kernel);
    tools::set_begin_parallel_reduce_callback(kernel);
    tools::set_begin_deep_copy_callback(
        [](Kokkos::Tools::SpaceHandle, const char* name, const void*, Kokkos::Tools::SpaceHandle,
           const char*, const void*, std::uint64_t) { events().copies.emplace_back(name); });
    tools::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char* name, const void*, std::uint64_t) {
          events().allocations.emplace_back(name);
        });
    tools::set_begin_fence_callback([](const char* name, std::uint32_t device, std::uint64_t*) {
      constexpr auto counted = tools::DeviceTypeTraits<Kokkos::DefaultExecutionSpace>::id;
      const bool is_counted = tools::identifier_from_devid(device).type == counted;
      if (is_counted && !is_of_kokkos(name)) events().fences.emplace_back(name);
    });
    tools::set_push_region_callback([](const char* name) { events().regions.emplace_back(name); });
    tools::set_pop_region_callback([] {});
  }
  ~RecordedEvents() { tools::set_callbacks(before_); }
  RecordedEvents(const RecordedEvents&) = delete;
  RecordedEvents& operator=(const RecordedEvents&) = delete;

  const KokkosEvents* operator->() const { return &events(); }

 private:
  static bool is_of_kokkos(std::string_view name) {
    constexpr std::array<std::string_view, 5> beginnings{
        "Kokkos::", "SharedAllocationRecord<", "HostSpace::", "CudaSpace::", "HIPSpace::"};
    return std::ranges::any_of(beginnings, [&](auto begin) { return name.starts_with(begin); });
  }

  /// Returns the events, which are static because the callbacks are plain functions.
  static KokkosEvents& events() {
    static KokkosEvents all;
    return all;
  }

  tools::EventSet before_;
};

}  // namespace tessera::test
