// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "picture/text_picture.hpp"
#include "picture/text_table.hpp"

namespace tessera::detail {

namespace {

std::string line(const std::string& text) {
  return text.empty() ? "" : text + "\n";
}

std::string wrong_lines(const std::vector<WrongPiece>& wrong) {
  constexpr int most = 8;
  std::string text;
  for (const auto i : shown_indices(std::ssize(wrong), most)) {
    if (i < 0) {
      text += fmt::format("! … {} ranks in all\n", wrong.size());
      continue;
    }
    const auto& piece = wrong[static_cast<std::size_t>(i)];
    text += fmt::format("! rank {} holds a View of shape {}, its piece has shape {}\n",
                        piece.mesh_rank, to_string(piece.given), to_string(piece.expected));
  }
  return text;
}

std::string legend(const PieceGrid& grid) {
  if (!grid.has_elements()) return "";
  std::string text;
  if (grid.has_replicas()) text += "a=b: replicas";
  if (grid.has_contributions())
    text += std::string(text.empty() ? "" : "; ") + "a+b: contributions, not yet reduced";
  return line(text);
}

}  // namespace

std::string picture_of(const PieceGrid& grid, const VisualizeOptions& options) {
  constexpr int most_slices = 4;
  const auto all = slices(grid, options.slice, most_slices);
  auto text = shortened(to_string(grid.spec()), std::max(options.width, least_width)) + "\n";
  std::string left_out = line(grid.parts_left_out(grid.row_dim(), most_rows));
  if (all.shown.empty()) text += "no elements\n";
  for (const auto& slice : all.shown) {
    const auto picture = slice_text(grid, slice, options);
    text += line(slice.heading) + picture.text;
    const auto columns = line(grid.parts_left_out(grid.column_dim(), picture.most_columns));
    if (left_out.find(columns) == std::string::npos) left_out += columns;
  }
  if (all.left_out > 0) text += fmt::format("and {} more slices\n", all.left_out);
  return text + left_out + line(grid.empty_ranks()) + legend(grid) + wrong_lines(grid.wrong());
}

}  // namespace tessera::detail
