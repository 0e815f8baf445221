// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "picture/sharding_picture.hpp"
#include "picture/text_table.hpp"
#include "picture/tuning.hpp"

namespace tessera::detail {

namespace {

constexpr double edge_text_size = 11;  // size of the text along edges
constexpr double left_out_width = 22;  // width of a gap where parts are left out

/// Returns how many parts of a dim are drawn: no more than can be seen, and no more cells than the
/// file should have.
int most_parts(std::size_t along_the_other_dim) {
  const auto others = std::min(along_the_other_dim, parts_always_shown);
  return static_cast<int>(std::min(most_parts_seen, most_cells / others));
}

struct Axis {
  int dim;
  std::vector<ShownPart> parts;
  std::vector<double> sizes = {};
};

/// Draws one slice: a rectangle for each piece, and ranges of indices along the edges.
class SliceDrawing {
 public:
  SliceDrawing(Svg& svg, const PieceGrid& grid, const Slice& slice, const Rect& area)
      : svg_(svg),
        grid_(grid),
        slice_(slice),
        rows_{grid.row_dim(),
              grid.parts(grid.row_dim(), most_parts(grid.count(grid.column_dim())))},
        columns_{grid.column_dim(),
                 grid.parts(grid.column_dim(), most_parts(grid.count(grid.row_dim())))},
        cells_(cells_area(area)) {
    rows_.sizes = sizes_to_scale(rows_.parts, least_size(rows_, cells_.height), left_out_width,
                                 cells_.height);
    columns_.sizes = sizes_to_scale(columns_.parts, least_size(columns_, cells_.width),
                                    left_out_width, cells_.width);
  }

  /// Draws the slice and returns the height taken.
  double draw() {
    if (!slice_.heading.empty())
      svg_.text(cells_.x, cells_.y - margin_above() + edge_text_size + 1, slice_.heading,
                {edge_text_size + 1, Anchor::start, "#222222", true});
    double y = cells_.y;
    for (std::size_t i = 0; i < rows_.parts.size(); ++i) {
      double x = cells_.x;
      for (std::size_t j = 0; j < columns_.parts.size(); ++j) {
        draw_piece({x, y, columns_.sizes[j], rows_.sizes[i]}, rows_.parts[i], columns_.parts[j]);
        x += columns_.sizes[j];
      }
      y += rows_.sizes[i];
    }
    draw_column_edge();
    draw_row_edge();
    return margin_above() + cells_.height;
  }

 private:
  /// Returns the least size of a part: room for a number, or less if `room` is short.
  static double least_size(const Axis& axis, double room) {
    constexpr double most = 18;
    return std::min(most, room / (2.0 * static_cast<double>(axis.parts.size())));
  }

  double margin_above() const {
    const double heading = slice_.heading.empty() ? 0 : edge_text_size + 8;
    return heading + (columns_.dim >= 0 ? 2 * edge_text_size + 10 : 0);
  }

  double margin_left() const {
    if (rows_.dim < 0) return 0;
    double widest = 0;
    for (const auto& part : rows_.parts)
      if (part.part >= 0)
        widest = std::max(widest, text_width(range_text(part.interval), edge_text_size));
    return edge_text_size + 8 + widest + 6;
  }

  /// Returns the rectangle of all cells. Rows and columns have one scale, unless that makes the
  /// rectangle too flat or too high.
  Rect cells_area(const Rect& area) const {
    constexpr double one_line = 64;
    const double highest = std::clamp(24.0 * static_cast<double>(rows_.parts.size()), 440.0, 900.0);
    double width = area.width - margin_left();
    double height = one_line;
    if (rows_.dim >= 0) {
      const double slope = std::clamp(extent(rows_) / extent(columns_), 0.3, 1.2);
      height = std::min(highest, width * slope);
      width = height / slope;
    }
    if (columns_.dim < 0) width = std::min(width, 3 * one_line);
    return {area.x + margin_left(), area.y + margin_above(), width, height};
  }

  double extent(const Axis& axis) const {
    return static_cast<double>(grid_.spec().shape()[static_cast<std::size_t>(axis.dim)]);
  }

  void draw_piece(const Rect& rect, const ShownPart& row, const ShownPart& column) {
    if (row.part < 0 || column.part < 0) return;
    const auto cell = cell_at(grid_, slice_, row.part, column.part);
    const auto holders = grid_.holders(cell);
    const auto shape = to_string(grid_.shape(cell));
    const bool has_room_for_lines = std::min(rect.width, rect.height) > 5;
    svg_.rect(rect, colour_of(grid_.first_rank(cell)), has_room_for_lines ? "#ffffff" : "none",
              fmt::format("rank {}: {}", holders, shape));
    if (grid_.has_replicas()) svg_.hatch(rect, Hatch::replicas);
    if (grid_.has_contributions()) svg_.hatch(rect, Hatch::contributions);
    draw_label(rect, holders, shape);
  }

  /// Writes the ranks as large as there is room for, and the shape if there is room left.
  void draw_label(const Rect& rect, const std::string& holders, const std::string& shape) {
    constexpr double line = 1.25;
    constexpr double shape_size = 10;
    constexpr double bold = 1.2;
    for (const double size : {17.0, 13.0, 10.0, 8.0}) {
      const auto lines =
          wrapped(holders, static_cast<int>((rect.width - 6) / (bold * text_width("0", size))));
      double widest = 0;
      for (const auto& text : lines) widest = std::max(widest, bold * text_width(text, size));
      const double height = line * size * static_cast<double>(lines.size());
      if (widest > rect.width - 6 || height > rect.height - 2) continue;
      const bool has_shape = text_width(shape, shape_size) < rect.width - 6 &&
                             height + line * shape_size < rect.height - 6;
      const double all = height + (has_shape ? line * shape_size : 0);
      const Rect block{rect.x, rect.y + (rect.height - all) / 2, rect.width, all};
      draw_plate(block, std::max(widest, has_shape ? text_width(shape, shape_size) : 0));
      const double x = rect.x + rect.width / 2;
      double y = block.y + size;
      for (const auto& text : lines) {
        svg_.text(x, y, text, {size, Anchor::middle, "#000000", true});
        y += line * size;
      }
      if (has_shape)
        svg_.text(x, y - size + shape_size, shape, {shape_size, Anchor::middle, "#333333"});
      return;
    }
  }

  /// Draws a light ground for text on a hatch.
  void draw_plate(const Rect& block, double width) {
    if (!grid_.has_replicas() && !grid_.has_contributions()) return;
    svg_.plate({block.x + (block.width - width) / 2 - 2, block.y - 1, width + 4, block.height + 2});
  }

  void draw_column_edge() {
    if (columns_.dim < 0) return;
    const double y = cells_.y - 5;
    const double middle = cells_.x + cells_.width / 2;
    svg_.text(middle, y - edge_text_size - 3, title(columns_),
              {edge_text_size, Anchor::middle, "#555555"});
    bool has_label = false;
    double x = cells_.x;
    for (std::size_t j = 0; j < columns_.parts.size(); x += columns_.sizes[j++]) {
      const auto text = edge_label(columns_.parts[j]);
      if (text_width(text, edge_text_size) > columns_.sizes[j]) continue;
      svg_.text(x + columns_.sizes[j] / 2, y, text, {edge_text_size});
      has_label = has_label || columns_.parts[j].part >= 0;
    }
    if (has_label) return;
    svg_.text(cells_.x, y, "0", {edge_text_size, Anchor::start});
    svg_.text(cells_.x + cells_.width, y, last_index(columns_), {edge_text_size, Anchor::end});
  }

  void draw_row_edge() {
    if (rows_.dim < 0) return;
    const double x = cells_.x - 6;
    svg_.text(cells_.x - margin_left() + edge_text_size, cells_.y + cells_.height / 2, title(rows_),
              {edge_text_size, Anchor::middle, "#555555", false, true});
    bool has_label = false;
    double y = cells_.y;
    for (std::size_t i = 0; i < rows_.parts.size(); y += rows_.sizes[i++]) {
      if (rows_.sizes[i] < edge_text_size) continue;
      const auto text = rows_.parts[i].part < 0 ? "⋮" : edge_label(rows_.parts[i]);
      svg_.text(x, y + rows_.sizes[i] / 2 + edge_text_size / 3, text,
                {edge_text_size, Anchor::end});
      has_label = has_label || rows_.parts[i].part >= 0;
    }
    if (has_label) return;
    svg_.text(x, cells_.y + edge_text_size, "0", {edge_text_size, Anchor::end});
    svg_.text(x, cells_.y + cells_.height, last_index(rows_), {edge_text_size, Anchor::end});
  }

  static std::string edge_label(const ShownPart& part) {
    return part.part < 0 ? "…" : range_text(part.interval);
  }

  std::string title(const Axis& axis) const {
    return fmt::format("dim {} ({:.0f})", axis.dim, extent(axis));
  }

  std::string last_index(const Axis& axis) const {
    return std::to_string(axis.parts.back().interval.end - 1);
  }

  Svg& svg_;
  const PieceGrid& grid_;
  const Slice& slice_;
  Axis rows_;
  Axis columns_;
  Rect cells_;
};

}  // namespace

double draw_slice(Svg& svg, const PieceGrid& grid, const Slice& slice, const Rect& area) {
  return SliceDrawing(svg, grid, slice, area).draw();
}

std::vector<std::string> parts_left_out(const PieceGrid& grid) {
  const int rows = grid.row_dim();
  const int columns = grid.column_dim();
  return {grid.parts_left_out(rows, most_parts(grid.count(columns))),
          grid.parts_left_out(columns, most_parts(grid.count(rows)))};
}

}  // namespace tessera::detail
