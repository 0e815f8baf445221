// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include <tessera/error/error.hpp>

#include "report.hpp"

namespace tessera::tools {
namespace {

struct Extremes {
  std::int64_t min;
  std::int64_t median;  ///< the upper one of an even number of values
  std::int64_t max;
  std::int64_t min_rank;
  std::int64_t max_rank;
};

Extremes extremes_of(std::vector<std::int64_t> values) {
  const auto min = std::ranges::min_element(values);
  const auto max = std::ranges::max_element(values);
  Extremes result{*min, 0, *max, min - values.begin(), max - values.begin()};
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  result.median = *middle;
  return result;
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column)
      text += fmt::format("  {:>{}}", row[column], widths[column]);
    text += '\n';
  }
  return text;
}

std::string summary(const std::vector<Quantity>& quantities) {
  std::vector<std::vector<std::string>> rows = {
      {"over ranks", "minimum", "rank", "median", "maximum", "rank"}};
  for (const auto& [name, by_rank] : quantities) {
    const auto found = extremes_of(by_rank);
    rows.push_back({name, std::to_string(found.min), std::to_string(found.min_rank),
                    std::to_string(found.median), std::to_string(found.max),
                    std::to_string(found.max_rank)});
  }
  return table(rows);
}

nlohmann::ordered_json summary_json(const std::vector<Quantity>& quantities) {
  nlohmann::ordered_json result;
  for (const auto& [name, by_rank] : quantities) {
    const auto found = extremes_of(by_rank);
    auto key = name;
    std::ranges::replace(key, ' ', '_');
    result[key] = {{"min", found.min},
                   {"min_rank", found.min_rank},
                   {"median", found.median},
                   {"max", found.max},
                   {"max_rank", found.max_rank}};
  }
  return result;
}

nlohmann::ordered_json to_json(const Piece& piece) {
  nlohmann::ordered_json result;
  if (piece.is_box()) {
    std::vector<std::int64_t> offset;
    for (const auto& sections : piece.sections) offset.push_back(sections.hull().begin);
    result["offset"] = offset;
  } else {
    result["indices"] = nlohmann::ordered_json::array();
    for (const auto& sections : piece.sections) result["indices"].push_back(to_string(sections));
  }
  result["shape"] = std::vector<std::int64_t>(piece.shape());
  return result;
}

void write_svg(const std::string& file, const std::string& text) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  require<IoError>(!stream.fail(), [&] {
    return fmt::format("--svg: expected a file that can be written, got \"{}\": {}", file,
                       std::strerror(errno));
  });
}

}  // namespace tessera::tools
