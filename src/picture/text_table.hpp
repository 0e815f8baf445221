// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::detail {

/// Returns the number of characters that a terminal shows of UTF-8 text without wide characters.
int shown_width(std::string_view text);

/// Splits a text at spaces into lines of at most `width` characters; longer words stay whole.
std::vector<std::string> wrapped(std::string_view text, int width);

/// Returns an ASCII text, but only its first `width` − 1 characters and "…" if it is longer than
/// `width`.
std::string shortened(const std::string& text, int width);

struct TextCell {
  std::vector<std::string> lines = {};
  int colour = -1;  ///< number of a background colour; -1: none
};

/// A TextTable is a table with lines around its cells.
struct TextTable {
  std::vector<std::string> column_labels = {};
  std::vector<std::string> row_labels = {};
  std::vector<int> widths = {};                   ///< widths of the columns, characters
  std::vector<int> heights = {};                  ///< heights of the rows, lines
  std::vector<std::vector<TextCell>> cells = {};  ///< indexed by row and column
};

/// Draws the table in box-drawing characters; lines end with "\n".
std::string draw(const TextTable& table);

}  // namespace tessera::detail
