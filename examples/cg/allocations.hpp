// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace cg {

/// Counts the allocations of Views while it lives, as the tools of Kokkos see them. Only one object
/// may live at a time.
class Allocations {
 public:
  Allocations() : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    counter() = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t) { ++counter(); });
  }
  ~Allocations() { Kokkos::Tools::Experimental::set_callbacks(before_); }
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  std::int64_t count() const { return counter(); }

 private:
  /// Returns the counter, which is static because the callback is a plain function.
  static std::int64_t& counter() {
    static std::int64_t count;
    return count;
  }

  Kokkos::Tools::Experimental::EventSet before_;
};

}  // namespace cg
