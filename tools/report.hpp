// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/sharding/sections.hpp>

namespace tessera::tools {

/// Largest number of ranks that are listed one by one; more ranks are summarised.
inline constexpr int most_ranks_listed = 32;

/// A Quantity has one value on every rank.
struct Quantity {
  std::string name;
  std::vector<std::int64_t> by_rank = {};
};

/// Formats rows as a table, with columns aligned to the right and two spaces before each.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// Reports the minimum, median and maximum of each quantity over ranks, and the first rank that has
/// the minimum or the maximum. Expects at least one rank.
std::string summary(const std::vector<Quantity>& quantities);
nlohmann::ordered_json summary_json(const std::vector<Quantity>& quantities);

/// Returns offset and shape of a piece; where it is no box, the indices along each tensor dim as
/// text in place of the offset.
nlohmann::ordered_json to_json(const Piece& piece);

/// Writes a picture to `file`. Errors: IoError that names the option and the file.
void write_svg(const std::string& file, const std::string& text);

}  // namespace tessera::tools
