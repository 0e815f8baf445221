// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "picture/text_picture.hpp"
#include "picture/text_table.hpp"

namespace tessera::detail {

namespace {

constexpr int most_lines = 24;  // height of one picture, unless its rows need more
constexpr int gap_width = 3;

using Labels = std::vector<std::vector<std::string>>;

int widest_word(const std::string& text) {
  int widest = 0;
  for (const auto& word : wrapped(text, 0)) widest = std::max(widest, shown_width(word));
  return widest;
}

template <class Width>
int widest(const Labels& labels, const Width& width) {
  int result = 0;
  for (const auto& row : labels)
    for (const auto& label : row) result = std::max(result, width(label));
  return result;
}

int widest(const std::vector<std::string>& labels) {
  return widest(Labels{labels}, shown_width);
}

/// Returns the labels along an edge of the picture.
std::vector<std::string> range_labels(const std::vector<ShownPart>& parts, int tensor_dim) {
  std::vector<std::string> result;
  for (const auto& part : parts)
    result.push_back(tensor_dim < 0 || part.part < 0 ? "" : range_text(part.interval));
  return result;
}

/// Returns the sizes of columns or rows. The scale gives the smallest one `least`, or is smaller if
/// the sizes would otherwise exceed `most` in all.
std::vector<int> sizes(const std::vector<ShownPart>& parts, int least, int small_gap, int most) {
  std::int64_t smallest = parts.front().interval.size();
  double sum = 0;
  double gaps = 0;
  for (const auto& part : parts) {
    if (part.part >= 0) smallest = std::min(smallest, part.interval.size());
    sum += static_cast<double>(part.interval.size());
    gaps += part.part < 0 ? small_gap : 0;
  }
  const double natural = gaps + least * sum / static_cast<double>(smallest);
  std::vector<int> result;
  for (const double size : sizes_to_scale(parts, least, small_gap, std::min<double>(natural, most)))
    result.push_back(static_cast<int>(size + 1e-6));
  return result;
}

/// Draws one slice as text.
class SlicePicture {
 public:
  SlicePicture(const PieceGrid& grid, const Slice& slice, const VisualizeOptions& options)
      : grid_(grid),
        slice_(slice),
        has_colour_(options.colour),
        rows_(grid.parts(grid.row_dim(), most_rows)) {
    table_.row_labels = range_labels(rows_, grid.row_dim());
    const int margin = widest(table_.row_labels);
    width_ = std::max(options.width, least_width) - (margin > 0 ? margin + 1 : 0);
    most_columns_ = columns_that_fit();
    columns_ = grid.parts(grid.column_dim(), most_columns_);
    table_.column_labels = range_labels(columns_, grid.column_dim());
  }

  std::string text() {
    const auto labels = cell_labels();
    table_.widths = sizes(columns_, least_column(labels), gap_width,
                          width_ - 1 - static_cast<int>(columns_.size()));
    int tallest = 1;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      table_.cells.emplace_back();
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        table_.cells[i].push_back(cell(labels[i][j], i, j));
        tallest = std::max(tallest, static_cast<int>(table_.cells[i][j].lines.size()));
      }
    }
    table_.heights = sizes(rows_, tallest, 1, most_lines);
    return draw(table_);
  }

  int most_columns() const { return most_columns_; }

 private:
  PieceGrid::Cell cell_of(const ShownPart& row, const ShownPart& column) const {
    return cell_at(grid_, slice_, row.part, column.part);
  }

  /// Returns how many columns fit if each has room for the longest numbers; at least 3.
  int columns_that_fit() const {
    const auto last = grid_.parts(grid_.column_dim(), 3).back();
    const auto label = grid_.holders(cell_of(rows_.back(), last));
    const int longest = std::max(widest_word(label), shown_width(range_text(last.interval)));
    return std::max(3, (width_ - 1) / (longest + 3));
  }

  Labels cell_labels() const {
    Labels labels;
    for (const auto& row : rows_) {
      labels.emplace_back();
      for (const auto& column : columns_) {
        const bool is_there = row.part >= 0 && column.part >= 0;
        const auto* const left_out = row.part >= 0 ? "…" : "⋮";
        labels.back().push_back(is_there ? grid_.holders(cell_of(row, column)) : left_out);
      }
    }
    return labels;
  }

  /// Returns the least width of a column: room for a label in one line if all columns then fit,
  /// otherwise for its longest word.
  int least_column(const Labels& labels) const {
    const int edge = widest(table_.column_labels);
    const int whole = std::max(edge, widest(labels, shown_width)) + 2;
    const bool fits = static_cast<int>(columns_.size()) * (whole + 1) + 1 <= width_;
    return fits ? whole : std::max(edge, widest(labels, widest_word)) + 2;
  }

  TextCell cell(const std::string& label, std::size_t row, std::size_t column) const {
    TextCell result{wrapped(label, table_.widths[column] - 2)};
    if (has_colour_ && rows_[row].part >= 0 && columns_[column].part >= 0)
      result.colour = grid_.first_rank(cell_of(rows_[row], columns_[column]));
    return result;
  }

  const PieceGrid& grid_;
  const Slice& slice_;
  bool has_colour_;
  std::vector<ShownPart> rows_;
  int width_ = 0;
  int most_columns_ = 0;
  std::vector<ShownPart> columns_;
  TextTable table_;
};

}  // namespace

SliceText slice_text(const PieceGrid& grid, const Slice& slice, const VisualizeOptions& options) {
  SlicePicture picture(grid, slice, options);
  return {picture.text(), picture.most_columns()};
}

}  // namespace tessera::detail
