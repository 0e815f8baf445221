// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "picture/sharding_picture.hpp"
#include "picture/text_table.hpp"

namespace tessera::detail {

double draw_paragraph(Svg& svg, std::string_view text, double x, double y, double width,
                      const TextStyle& style) {
  const double line = 1.35 * style.size;
  double height = 0;
  for (const auto& part : wrapped(text, static_cast<int>(width / text_width("0", style.size)))) {
    svg.text(x, y + height + style.size, part, style);
    height += line;
  }
  return height;
}

double draw_sharding(Svg& svg, const PieceGrid& grid, const Rect& area,
                     const std::vector<std::int64_t>& slice) {
  constexpr int most_slices = 6;
  constexpr int slices_in_a_line = 3;
  constexpr double space = 24;
  const TextStyle note{12, Anchor::start};
  const auto all = slices(grid, slice, most_slices);
  double y = area.y;
  const int in_a_line = std::clamp(static_cast<int>(all.shown.size()), 1, slices_in_a_line);
  const double width = (area.width - space * (in_a_line - 1)) / in_a_line;
  double height = 0;
  for (std::size_t i = 0; i < all.shown.size(); ++i) {
    const int column = static_cast<int>(i) % in_a_line;
    if (column == 0 && i > 0) y += height + space;
    const Rect place{area.x + column * (width + space), y, width, 0};
    height = draw_slice(svg, grid, all.shown[i], place);
  }
  y += height + 8;
  const auto write = [&](const std::string& text) {
    if (!text.empty()) y += draw_paragraph(svg, text, area.x, y, area.width, note);
  };
  if (all.shown.empty()) write("no elements");
  if (all.left_out > 0) write(fmt::format("and {} more slices", all.left_out));
  if (!all.shown.empty())
    for (const auto& text : parts_left_out(grid)) write(text);
  write(grid.empty_ranks());
  return y - area.y;
}

double draw_hatch_legend(Svg& svg, double x, double y, bool has_replicas, bool has_contributions) {
  constexpr double side = 16;
  double height = 0;
  const auto entry = [&](Hatch hatch, const char* text) {
    const Rect swatch{x, y + height, 2 * side, side};
    svg.rect(swatch, "#e8e8e8", "#888888");
    svg.hatch(swatch, hatch);
    svg.text(x + 2 * side + 8, y + height + side - 4, text, {12, Anchor::start});
    height += side + 6;
  };
  if (has_replicas) entry(Hatch::replicas, "a=b: ranks a and b hold replicas");
  if (has_contributions)
    entry(Hatch::contributions,
          "a+b: ranks a and b hold contributions that are still to be reduced");
  return height;
}

}  // namespace tessera::detail
