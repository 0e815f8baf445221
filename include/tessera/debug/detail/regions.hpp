// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::detail {

/// Records the Kokkos regions that this thread enters while the RegionWatch lives. Callbacks of
/// tools that were installed before are still called.
class RegionWatch {
 public:
  RegionWatch();
  ~RegionWatch();
  RegionWatch(const RegionWatch&) = delete;
  RegionWatch& operator=(const RegionWatch&) = delete;

  /// Returns the regions that the thread is in, outermost first, without those of the library
  /// itself.
  std::vector<std::string> regions() const;

 private:
  std::uint64_t first_;  ///< number of the first region entered after construction
};

}  // namespace tessera::detail
