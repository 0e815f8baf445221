// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

namespace tessera::detail {

/// Opens a region for the tools of Kokkos while it lives. It opens none if `name` is empty or no
/// tool is loaded.
class NamedRegion {
 public:
  explicit NamedRegion(const char* name)
      : is_open_(*name != '\0' && Kokkos::Tools::profileLibraryLoaded()) {
    if (is_open_) Kokkos::Profiling::pushRegion(name);
  }
  ~NamedRegion() {
    if (is_open_) Kokkos::Profiling::popRegion();
  }
  NamedRegion(const NamedRegion&) = delete;
  NamedRegion& operator=(const NamedRegion&) = delete;

 private:
  bool is_open_;
};

}  // namespace tessera::detail
