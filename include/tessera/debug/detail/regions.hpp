// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::detail {

/// While one lives, the regions of Kokkos that this thread has entered since are known. Callbacks
/// of tools that were there before are still called.
class RegionWatch {
 public:
  RegionWatch();
  ~RegionWatch();
  RegionWatch(const RegionWatch&) = delete;
  RegionWatch& operator=(const RegionWatch&) = delete;

  /// Outermost first; without those of the library itself.
  std::vector<std::string> regions() const;

 private:
  std::uint64_t first_;  ///< number of the first region entered since
};

}  // namespace tessera::detail
