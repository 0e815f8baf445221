// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <tessera/sharding/sections.hpp>

namespace tessera::detail {

/// An IndexMap gives the global index of each local index along one tensor dim, also in kernels.
class IndexMap {
 public:
  IndexMap() = default;
  explicit IndexMap(const Sections& sections) {
    is_interval_ = sections.is_interval();
    for (std::size_t i = 0; i < sections.size(); ++i) sections_[i] = sections[i];
    first_size_ = sections_[0].size();
  }

  KOKKOS_FUNCTION std::int64_t global_index(std::int64_t local) const {
    if (is_interval_) return sections_[0].begin + local;
    if (local < first_size_) return index_in(sections_[0], local);
    return index_in(sections_[1], local - first_size_);
  }

 private:
  KOKKOS_FUNCTION static std::int64_t index_in(const Section& section, std::int64_t local) {
    return section.begin + local / section.block * section.period + local % section.block;
  }

  Kokkos::Array<Section, 2> sections_{};
  std::int64_t first_size_ = 0;
  bool is_interval_ = true;
};

}  // namespace tessera::detail
