// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tessera/picture/sharding_svg.hpp>

#include "picture/sharding_picture.hpp"
#include "picture/text_table.hpp"

namespace tessera {

std::string sharding_svg(const DTensorSpec& spec, const SvgOptions& options) {
  constexpr int least_width = 300;
  constexpr int longest_title = 400;
  constexpr double margin = 20;
  const double width = std::max(options.width, least_width);
  const double inner = width - 2 * margin;
  const auto title = detail::shortened(to_string(spec), longest_title);
  const detail::PieceGrid grid(spec);
  detail::Svg svg;
  double y = margin;
  y += detail::draw_paragraph(svg, title, margin, y, inner,
                              {16, detail::Anchor::start, "#222222", true});
  y += 10;
  y += detail::named("sharding_svg", [&] {
    return detail::draw_sharding(svg, grid, {margin, y, inner, 0}, options.slice);
  });
  y += 6;
  y += detail::draw_paragraph(svg, "numbers: mesh ranks; a colour for the first rank of each piece",
                              margin, y, inner, {12, detail::Anchor::start, "#555555"});
  y += 4;
  y += detail::draw_hatch_legend(svg, margin, y, grid.has_replicas(), grid.has_contributions());
  return svg.document(width, y + margin, title);
}

}  // namespace tessera
