// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::detail {

/// Number of characters that a terminal shows of UTF-8 text without wide ones.
int shown_width(std::string_view text);

/// The text in lines of at most `width` characters, broken at spaces; longer words stay whole.
std::vector<std::string> wrapped(std::string_view text, int width);

/// The first `width` − 1 characters and "…" where an ASCII text is longer than `width`.
std::string shortened(const std::string& text, int width);

struct TextCell {
  std::vector<std::string> lines = {};
  int colour = -1;  ///< -1: none
};

/// A table with lines around its cells.
struct TextTable {
  std::vector<std::string> column_labels = {};
  std::vector<std::string> row_labels = {};
  std::vector<int> widths = {};                   ///< of the columns, in characters
  std::vector<int> heights = {};                  ///< of the rows, in lines
  std::vector<std::vector<TextCell>> cells = {};  ///< by row and column
};

/// The table in box-drawing characters, lines ended by "\n".
std::string draw(const TextTable& table);

}  // namespace tessera::detail
