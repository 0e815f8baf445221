// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <tessera/sharding/sections.hpp>

namespace tessera::detail {

/// An IndexMap gives the global index of each local index along one tensor dim, and the other way
/// round, also in kernels.
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

  /// Returns the local index of a global one; -1 if it is not among these.
  KOKKOS_FUNCTION std::int64_t local_index(std::int64_t global) const {
    const auto first = position_in(sections_[0], global);
    if (first >= 0) return first;
    const auto second = position_in(sections_[1], global);
    return second < 0 ? -1 : first_size_ + second;
  }

 private:
  KOKKOS_FUNCTION static std::int64_t index_in(const Section& section, std::int64_t local) {
    return section.begin + local / section.block * section.period + local % section.block;
  }
  KOKKOS_FUNCTION static std::int64_t position_in(const Section& section, std::int64_t global) {
    const auto distance = global - section.begin;
    if (section.count == 0 || distance < 0) return -1;
    const auto number = section.count == 1 ? 0 : distance / section.period;
    const auto rest = distance - number * section.period;
    const auto extent = number + 1 == section.count ? section.last : section.block;
    return number < section.count && rest < extent ? number * section.block + rest : -1;
  }

  Kokkos::Array<Section, 2> sections_{};
  std::int64_t first_size_ = 0;
  bool is_interval_ = true;
};

}  // namespace tessera::detail
