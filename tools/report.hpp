// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/extents/box.hpp>

namespace tessera::tools {

/// Up to so many ranks are listed, more are summarised.
inline constexpr int most_ranks_listed = 32;

/// A quantity of every rank.
struct Quantity {
  std::string name;
  std::vector<std::int64_t> by_rank = {};
};

/// Columns aligned to the right, two spaces before each.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// Minimum, median and maximum over ranks, and the first rank that has them. Expects a rank.
std::string summary(const std::vector<Quantity>& quantities);
nlohmann::ordered_json summary_json(const std::vector<Quantity>& quantities);

nlohmann::ordered_json to_json(const Box& box);

/// Errors: IoError that names the option and the file.
void write_svg(const std::string& file, const std::string& text);

}  // namespace tessera::tools
