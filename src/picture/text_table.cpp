// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "picture/text_table.hpp"

namespace tessera::detail {

namespace {

/// Lists light colours, by their numbers among the 256 of terminals, that the colour-blind, too,
/// can tell apart.
constexpr std::array backgrounds{117, 214, 79,  227, 111, 209, 182, 252,
                                 153, 222, 121, 230, 147, 216, 225, 188};

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

std::string centred(std::string_view text, int width) {
  const int space = std::max(0, width - shown_width(text));
  return fmt::format("{:{}}{}{:{}}", "", space / 2, text, "", space - space / 2);
}

std::string without_end_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string coloured(const std::string& text, int colour) {
  if (colour < 0) return text;
  return fmt::format("\x1b[30;48;5;{}m{}\x1b[0m",
                     backgrounds[static_cast<std::size_t>(colour) % backgrounds.size()], text);
}

struct Corners {
  const char* left;
  const char* middle;
  const char* right;
};

std::string border(const TextTable& table, int margin, const Corners& corners) {
  std::string line(static_cast<std::size_t>(margin), ' ');
  for (std::size_t j = 0; j < table.widths.size(); ++j)
    line += (j == 0 ? corners.left : corners.middle) + repeated("─", table.widths[j]);
  return line + corners.right + "\n";
}

std::string column_labels(const TextTable& table, int margin) {
  std::string line(static_cast<std::size_t>(margin), ' ');
  for (std::size_t j = 0; j < table.widths.size(); ++j)
    line.append(" ").append(centred(table.column_labels[j], table.widths[j]));
  line = without_end_spaces(line);
  return line.empty() ? "" : line + "\n";
}

/// Returns line `k` of a cell whose lines are centred in `height` lines.
std::string line_of(const TextCell& cell, int k, int width, int height) {
  const int line = k - (height - static_cast<int>(cell.lines.size())) / 2;
  const bool is_there = 0 <= line && line < std::ssize(cell.lines);
  return coloured(
      centred(is_there ? cell.lines[static_cast<std::size_t>(line)] : std::string(), width),
      cell.colour);
}

std::string row_lines(const TextTable& table, std::size_t row, int margin) {
  const int height = table.heights[row];
  std::string lines;
  for (int k = 0; k < height; ++k) {
    const auto label = k == (height - 1) / 2 ? table.row_labels[row] : std::string();
    lines += repeated(" ", margin - 1 - shown_width(label)) + label + repeated(" ", margin > 0);
    for (std::size_t j = 0; j < table.widths.size(); ++j)
      lines += "│" + line_of(table.cells[row][j], k, table.widths[j], height);
    lines += "│\n";
  }
  return lines;
}

}  // namespace

int shown_width(std::string_view text) {
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<int>(std::ranges::count_if(text, is_first_byte));
}

std::vector<std::string> wrapped(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool fits = !lines.empty() && shown_width(lines.back()) + 1 + shown_width(word) <= width;
    if (fits)
      lines.back().append(" ").append(word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

std::string shortened(const std::string& text, int width) {
  const auto most = static_cast<std::size_t>(width);
  return text.size() <= most ? text : text.substr(0, most - 1) + "…";
}

std::string draw(const TextTable& table) {
  int margin = 0;
  for (const auto& label : table.row_labels) margin = std::max(margin, shown_width(label) + 1);
  if (margin == 1) margin = 0;
  auto text = column_labels(table, margin) + border(table, margin, {"┌", "┬", "┐"});
  for (std::size_t i = 0; i < table.heights.size(); ++i) {
    if (i > 0) text += border(table, margin, {"├", "┼", "┤"});
    text += row_lines(table, i, margin);
  }
  return text + border(table, margin, {"└", "┴", "┘"});
}

}  // namespace tessera::detail
