// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "picture/matrix_picture.hpp"

namespace tessera::detail {

namespace {

constexpr double edge_size = 11;

class MatrixPicture {
 public:
  MatrixPicture(Svg& svg, const PhaseTraffic& traffic, const RankBlocks& blocks,
                const std::vector<std::string>& names, const Rect& area)
      : svg_(svg),
        traffic_(traffic),
        blocks_(blocks),
        names_(names),
        count_(static_cast<std::size_t>(blocks.count)) {
    double widest = 0;
    for (const auto& name : names) widest = std::max(widest, text_width(name, edge_size));
    constexpr double largest = 44;
    constexpr double smallest = 8;
    constexpr double room_for_received = 56;
    margin_ = std::max(edge_size + 14 + widest, room_for_received);
    const double room = area.width - margin_ - totals;
    side_ = std::clamp(room / static_cast<double>(count_), smallest, largest);
    const bool names_lie = widest < side_ - 2;
    above_ = edge_size + 12 + (names_lie ? edge_size : widest);
    are_names_upward_ = !names_lie;
    x_ = area.x + margin_;
    y_ = area.y + above_;
    most_ = std::max<std::int64_t>(1, *std::ranges::max_element(traffic.bytes));
  }

  Rect draw() {
    const double length = side_ * static_cast<double>(count_);
    draw_titles(length);
    for (std::size_t row = 0; row < count_; ++row)
      for (std::size_t column = 0; column < count_; ++column) draw_entry(row, column);
    for (std::size_t i = 0; i < count_; ++i) draw_edges(i, length);
    svg_.text(x_ + length + totals / 2, y_ + length + edge_size + 4,
              short_number(sum(traffic_.bytes)), {edge_size, Anchor::middle, "#000000", true});
    return {x_ - margin_, y_ - above_, margin_ + length + totals, above_ + length + edge_size + 10};
  }

 private:
  static constexpr double totals = 52;

  static std::int64_t sum(const std::vector<std::int64_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  }

  void draw_titles(double length) {
    const TextStyle title{edge_size, Anchor::middle, "#555555"};
    svg_.text(x_ + length / 2, y_ - above_ + edge_size, "to rank", title);
    svg_.text(x_ - margin_ + edge_size, y_ + length / 2, "from rank",
              {edge_size, Anchor::middle, "#555555", false, true});
    svg_.text(x_ + length + totals / 2, y_ - 5, "sent", title);
    svg_.text(x_ - 6, y_ + length + edge_size + 4, "received", {9, Anchor::end, "#555555"});
  }

  void draw_entry(std::size_t row, std::size_t column) {
    const auto bytes = traffic_.bytes[row * count_ + column];
    const bool is_own = row == column && blocks_.are_single();
    const Rect rect{x_ + side_ * static_cast<double>(column), y_ + side_ * static_cast<double>(row),
                    side_, side_};
    const double fraction = static_cast<double>(bytes) / static_cast<double>(most_);
    const double lightest = 0.12;
    const auto fill = is_own       ? "#e4e4e4"
                      : bytes == 0 ? "#ffffff"
                                   : shade_of(lightest + (1 - lightest) * fraction);
    const auto shown = is_own ? traffic_.stays[row] : bytes;
    svg_.rect(
        rect, fill, "#cccccc",
        shown == 0 ? "" : fmt::format("{} to {}: {} bytes", names_[row], names_[column], shown));
    const auto text = short_number(shown);
    constexpr double size = 11;
    if (shown == 0 || text_width(text, size) > side_ - 2) return;
    const auto* const ink = is_own ? "#777777" : fraction > 0.5 ? "#ffffff" : "#000000";
    svg_.text(rect.x + side_ / 2, rect.y + side_ / 2 + size / 3, text, {size, Anchor::middle, ink});
  }

  /// Draws the names and totals of one rank or block along the edges.
  void draw_edges(std::size_t i, double length) {
    const double middle = side_ * (static_cast<double>(i) + 0.5);
    const auto every = static_cast<std::size_t>(edge_size / side_) + 1;
    if (i % every != 0) return;
    svg_.text(x_ - 6, y_ + middle + edge_size / 3, names_[i], {edge_size, Anchor::end});
    svg_.text(x_ + middle + (are_names_upward_ ? edge_size / 3 : 0), y_ - 5, names_[i],
              {edge_size, are_names_upward_ ? Anchor::start : Anchor::middle, "#222222", false,
               are_names_upward_});
    std::int64_t sent = 0;
    std::int64_t received = 0;
    for (std::size_t k = 0; k < count_; ++k) {
      sent += traffic_.bytes[i * count_ + k];
      received += traffic_.bytes[k * count_ + i];
    }
    svg_.text(x_ + length + totals / 2, y_ + middle + edge_size / 3, short_number(sent),
              {edge_size, Anchor::middle, "#000000", true});
    if (text_width("999M", edge_size) <= side_)
      svg_.text(x_ + middle, y_ + length + edge_size + 4, short_number(received),
                {edge_size, Anchor::middle, "#000000", true});
  }

  Svg& svg_;
  const PhaseTraffic& traffic_;
  const RankBlocks& blocks_;
  const std::vector<std::string>& names_;
  std::size_t count_;
  double margin_ = 0;
  double above_ = 0;
  double side_ = 0;
  double x_ = 0;
  double y_ = 0;
  bool are_names_upward_ = false;
  std::int64_t most_ = 1;
};

}  // namespace

Rect draw_matrix(Svg& svg, const PhaseTraffic& traffic, const RankBlocks& blocks,
                 const std::vector<std::string>& names, const Rect& area) {
  return MatrixPicture(svg, traffic, blocks, names, area).draw();
}

}  // namespace tessera::detail
