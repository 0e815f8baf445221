// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <Kokkos_Core.hpp>

#include "heat.hpp"

namespace heat {

/// Returns pictures of states beside one another: a character for each value, from the lowest one
/// of all states to the highest one. At most 12 rows and 24 columns of a state are shown.
inline std::string picture(const std::vector<Matrix>& states) {
  constexpr std::string_view shades = " .:-=+*#%@";
  constexpr std::size_t most_rows = 12, most_columns = 24;
  std::vector<Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace>> hosts;
  for (const auto& state : states)
    hosts.push_back(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), state));
  double low = 0, high = 0;
  for (const auto& host : hosts) {
    const auto [least, most] = std::minmax_element(host.data(), host.data() + host.size());
    low = std::min(low, *least);
    high = std::max(high, *most);
  }
  const auto n = states.front().extent(0);
  const auto rows = std::min(n, most_rows), columns = std::min(n, most_columns);
  std::string text;
  for (std::size_t i = 0; i < rows; ++i) {
    for (const auto& host : hosts) {
      text += '|';
      for (std::size_t j = 0; j < columns; ++j) {
        const double value = host((2 * i + 1) * n / (2 * rows), (2 * j + 1) * n / (2 * columns));
        const double shade = high > low ? (value - low) / (high - low) : 0;
        text += shades[static_cast<std::size_t>(shade * static_cast<double>(shades.size() - 1))];
      }
      text += "|  ";
    }
    text.resize(text.size() - 2);
    text += '\n';
  }
  return text;
}

}  // namespace heat
