// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

namespace tessera::perf {

/// Counts the memory of Views while it lives, as the tools of Kokkos see it: what is allocated less
/// what is freed since it was made. Only one object may live at a time.
class PeakMemory {
 public:
  PeakMemory() : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    bytes() = {};
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t size) {
          bytes().now += static_cast<std::int64_t>(size);
          bytes().peak = std::max(bytes().peak, bytes().now);
        });
    Kokkos::Tools::Experimental::set_deallocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t size) {
          bytes().now -= static_cast<std::int64_t>(size);
        });
  }
  ~PeakMemory() { Kokkos::Tools::Experimental::set_callbacks(before_); }
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

  /// Returns the most bytes that were there at the same time.
  std::int64_t peak() const { return bytes().peak; }

 private:
  struct Bytes {
    std::int64_t now = 0;
    std::int64_t peak = 0;
  };

  /// Returns the counts, which are static because the callbacks are plain functions.
  static Bytes& bytes() {
    static Bytes counts;
    return counts;
  }

  Kokkos::Tools::Experimental::EventSet before_;
};

}  // namespace tessera::perf
