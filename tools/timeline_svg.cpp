// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include "picture/svg.hpp"
#include "timeline.hpp"

namespace tessera::tools {
namespace {

using detail::Anchor;
using detail::Rect;
using detail::TextStyle;

constexpr double width = 1000, left = 64, margin = 16;
constexpr double level_height = 15, bar_height = 22, row_gap = 10;
constexpr std::array<const char*, 6> kinds = {"redistribute", "collective", "agreement",
                                              "metadata",     "io",         "operator"};

int kind_number(const std::string& category) {
  return static_cast<int>(std::ranges::find(kinds, category) - kinds.begin());
}

/// Returns the distance between ticks: 1, 2 or 5 times a power of ten, at most 8 of which fit into
/// `length`.
double tick_of(double length) {
  const double power = std::pow(10, std::floor(std::log10(length / 4)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (length / (factor * power) <= 8) return factor * power;
  return 10 * power;
}

class Timeline {
 public:
  explicit Timeline(const std::vector<Bar>& bars) : bars_(bars) {
    for (const auto& bar : bars) {
      end_ = std::max(end_, bar.start + bar.seconds);
      if (bar.is_region()) levels_ = std::max(levels_, bar.depth + 1);
      row_of_.emplace(bar.rank, 0);
    }
    int row = 0;
    for (auto& [rank, number] : row_of_) number = row++;
  }

  std::string draw() {
    draw_legend();
    for (const auto& [rank, row] : row_of_) draw_row(rank);
    // Regions and operators are drawn first: they are the background. An operator is recorded after
    // those that it calls.
    for (const auto& bar : bars_)
      if (bar.is_region()) draw_region(bar);
    for (auto bar = bars_.rbegin(); bar != bars_.rend(); ++bar)
      if (bar->is_operator()) draw_bar(*bar);
    for (const auto& bar : bars_)
      if (!bar.is_region() && !bar.is_operator()) draw_bar(bar);
    draw_axis();
    return svg_.document(width, top(static_cast<int>(row_of_.size())) + 34,
                         "What each rank communicates, by time");
  }

 private:
  double row_height() const { return levels_ * level_height + bar_height + row_gap; }
  double top(int row) const { return 40 + row * row_height(); }
  double x_of(double time) const {
    return left + time / std::max(end_, 1e-12) * (width - left - margin);
  }

  void draw_legend() {
    double x = left;
    for (const auto* kind : kinds) {
      if (std::ranges::find(bars_, kind, &Bar::category) == bars_.end()) continue;
      svg_.rect({x, 10, 12, 12}, detail::colour_of(kind_number(kind)));
      svg_.text(x + 18, 20, kind, {12, Anchor::start});
      x += 40 + detail::text_width(kind, 12);
    }
  }

  void draw_row(std::int64_t rank) {
    const double y = top(row_of_.at(rank));
    svg_.rect({left, y + levels_ * level_height, width - left - margin, bar_height}, "#f4f4f4");
    svg_.text(left - 8, y + levels_ * level_height + 15, fmt::format("rank {}", rank),
              {12, Anchor::end});
  }

  void write_in(const Rect& rect, const std::string& text, const char* fill) {
    if (detail::text_width(text, 10) < rect.width - 4)
      svg_.text(rect.x + rect.width / 2, rect.y + rect.height / 2 + 4, text,
                {10, Anchor::middle, fill});
  }

  Rect rect_of(const Bar& bar, double y, double height) const {
    const double x = x_of(bar.start);
    return {x, y, std::max(x_of(bar.start + bar.seconds) - x, 1.5), height};
  }

  void draw_region(const Bar& bar) {
    const auto rect =
        rect_of(bar, top(row_of_.at(bar.rank)) + bar.depth * level_height, level_height - 1);
    svg_.rect(rect, "#dddddd", "#ffffff", bar.name);
    write_in(rect, bar.name, "#222222");
  }

  void draw_bar(const Bar& bar) {
    const auto rect = rect_of(bar, top(row_of_.at(bar.rank)) + levels_ * level_height, bar_height);
    svg_.rect(rect, detail::colour_of(kind_number(bar.category)),
              rect.width < 4 ? "none" : "#ffffff",
              fmt::format("{}: {:.3f} ms, {} bytes received", bar.name, bar.seconds * 1e3,
                          bar.bytes_received));
    write_in(rect, bar.name, "#ffffff");
  }

  void draw_axis() {
    const double y = top(static_cast<int>(row_of_.size())) + 4;
    const double tick = tick_of(std::max(end_, 1e-9));
    for (int i = 0; i * tick <= end_; ++i) {
      svg_.rect({x_of(i * tick), y - 2, 1, 6}, "#555555");
      svg_.text(x_of(i * tick), y + 18, fmt::format("{:g} ms", i * tick * 1e3),
                {11, i == 0 ? Anchor::start : Anchor::middle, "#555555"});
    }
  }

  const std::vector<Bar>& bars_;
  std::map<std::int64_t, int> row_of_;  // row of each rank
  int levels_ = 0;                      // nesting levels of regions
  double end_ = 0;
  detail::Svg svg_;
};

}  // namespace

std::string timeline_svg(const std::vector<Bar>& bars) {
  return Timeline(bars).draw();
}

}  // namespace tessera::tools
