// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agreement/on_ranks.hpp"

namespace tessera::detail {

std::string on_ranks(const std::vector<int>& positions, std::size_t group_size) {
  if (positions.size() == group_size) return "";
  constexpr std::size_t named = 8;
  const auto end =
      positions.begin() + static_cast<std::ptrdiff_t>(std::min(positions.size(), named));
  return fmt::format(" (on rank{} {}{})", positions.size() > 1 ? "s" : "",
                     fmt::join(positions.begin(), end, ", "),
                     positions.size() > named ? ", …" : "");
}

}  // namespace tessera::detail
