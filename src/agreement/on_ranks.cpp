// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agreement/on_ranks.hpp"

namespace tessera::detail {

std::string ranks_in_words(std::span<const int> ranks, std::size_t most) {
  const auto shown = ranks.first(std::min(ranks.size(), most));
  return fmt::format("rank{} {}{}", ranks.size() == 1 ? "" : "s", fmt::join(shown, ", "),
                     ranks.size() > most ? ", …" : "");
}

std::string on_ranks(const std::vector<int>& positions, std::size_t group_size) {
  if (positions.size() == group_size) return "";
  constexpr std::size_t named = 8;
  return fmt::format(" (on {})", ranks_in_words(positions, named));
}

}  // namespace tessera::detail
