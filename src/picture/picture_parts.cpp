// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <tessera/error/error.hpp>

#include "picture/piece_grid.hpp"

namespace tessera::detail {

namespace {

/// Returns the size of all parts together at `scale`; each part has at least the size `least`.
double total_at(double scale, const std::vector<ShownPart>& parts, double least) {
  double total = 0;
  for (const auto& part : parts)
    if (part.part >= 0) total += std::max(least, scale * static_cast<double>(part.interval.size()));
  return total;
}

/// Returns the largest scale at which the parts take no more than `total`.
double largest_scale(const std::vector<ShownPart>& parts, double least, double total) {
  double low = 0;
  double high = total;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (total_at(middle, parts, least) <= total ? low : high) = middle;
  }
  return low;
}

void require_index(const DTensorSpec& spec, const std::vector<std::int64_t>& index,
                   std::size_t leading_dims) {
  bool is_inside = index.size() == leading_dims;
  for (std::size_t d = 0; is_inside && d < index.size(); ++d)
    is_inside = 0 <= index[d] && index[d] < spec.shape()[d];
  require(is_inside, [&] {
    return fmt::format(
        "expected a slice of {} indices along the leading dims of a tensor of shape {}, got {}",
        leading_dims, to_string(spec.shape()), to_string(Extents(index)));
  });
}

Slice slice_of(const std::vector<ShownPart>& leading) {
  Slice result;
  if (leading.empty()) return result;
  result.heading = "[";
  for (const auto& part : leading) {
    result.leading.push_back(part.part);
    result.heading += range_text(part.interval) + ", ";
  }
  result.heading += ":, :]";
  return result;
}

}  // namespace

std::vector<std::int64_t> shown_indices(std::int64_t count, int most) {
  const auto first = count <= most ? count : most / 2;
  const auto last = count <= most ? 0 : most - 1 - first;
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < first; ++i) result.push_back(i);
  if (count > most) result.push_back(-1);
  for (auto i = count - last; i < count; ++i) result.push_back(i);
  return result;
}

std::string range_text(Interval interval) {
  if (interval.size() == 1) return fmt::format("{}", interval.begin);
  return fmt::format("{}-{}", interval.begin, interval.end - 1);
}

std::string ranges_text(const std::vector<int>& ascending) {
  constexpr int most_runs = 8;
  std::vector<Interval> runs;
  for (const int number : ascending) {
    if (runs.empty() || runs.back().end != number) runs.push_back({number, number});
    ++runs.back().end;
  }
  std::string text;
  for (const auto i : shown_indices(std::ssize(runs), most_runs)) {
    if (!text.empty()) text += ", ";
    text += i < 0 ? "…" : range_text(runs[static_cast<std::size_t>(i)]);
  }
  if (std::ssize(runs) > most_runs) text += fmt::format(" ({} in all)", ascending.size());
  return text;
}

std::vector<double> sizes_to_scale(const std::vector<ShownPart>& parts, double least, double gap,
                                   double total) {
  const auto gaps = std::ranges::count(parts, -1, &ShownPart::part);
  const double scale = largest_scale(parts, least, total - gap * static_cast<double>(gaps));
  std::vector<double> sizes;
  for (const auto& part : parts)
    sizes.push_back(
        part.part < 0 ? gap : std::max(least, scale * static_cast<double>(part.interval.size())));
  return sizes;
}

Slices slices(const PieceGrid& grid, const std::vector<std::int64_t>& index, int most) {
  const auto& spec = grid.spec();
  const auto leading_dims = static_cast<std::size_t>(std::max(0, spec.tensor_dims() - 2));
  if (!index.empty()) require_index(spec, index, leading_dims);
  Slices result;
  if (!grid.has_elements()) return result;
  std::vector<ShownPart> leading(leading_dims);
  std::int64_t count = 1;
  for (std::size_t d = 0; d < leading_dims; ++d) {
    const int dim = static_cast<int>(d);
    if (index.empty()) count *= grid.count(dim);
    if (!index.empty()) leading[d] = grid.all_parts(dim).with(index[d]);
  }
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, most); ++i) {
    auto rest = i;
    for (std::size_t d = leading_dims; index.empty() && d-- > 0;) {
      const auto& parts = grid.all_parts(static_cast<int>(d));
      leading[d] = parts.at(rest % parts.count());
      rest /= parts.count();
    }
    result.shown.push_back(slice_of(leading));
  }
  result.left_out = count - std::ssize(result.shown);
  return result;
}

PieceGrid::Cell cell_at(const PieceGrid& grid, const Slice& slice, int row, int column) {
  auto cell = slice.leading;
  if (grid.row_dim() >= 0) cell.push_back(row);
  if (grid.column_dim() >= 0) cell.push_back(column);
  return cell;
}

}  // namespace tessera::detail
