// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

/// This part of the program draws how the training went: two panels, one above the other, over the epochs.
namespace train {

/// Describes what is measured after an epoch.
struct Epoch {
  double loss;      ///< mean over the training steps of the epoch
  double accuracy;  ///< percent of the held-out digits that are right
};

/// Returns the distance of ticks so that there are at most `most`: 1, 2 or 5 times a power of 10.
inline double tick_distance(double range, int most) {
  const double power = std::pow(10, std::floor(std::log10(range / most)));
  for (const double factor : {1, 2, 5})
    if (range <= most * factor * power) return factor * power;
  return 10 * power;
}

inline std::string line(double x1, double y1, double x2, double y2, const char* kind) {
  constexpr auto element = R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>)";
  return fmt::format(element, x1, y1, x2, y2, kind) + '\n';
}

inline std::string text(double x, double y, const char* kind, const std::string& content) {
  constexpr auto element = R"(<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>)";
  return fmt::format(element, x, y, kind, content) + '\n';
}

constexpr auto svg_start =
    R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 580" width="700" height="580">
<style>text { font: 13px sans-serif; fill: #222 } .title { font-weight: bold }
.left { text-anchor: end } .below { text-anchor: middle } .axis { stroke: #222 }
.tick { stroke: #ddd } .level { stroke: #a33; stroke-dasharray: 6 4 }</style>
<rect width="700" height="580" fill="white"/>
)";

/// Draws a panel with axes, ticks and a line into an SVG picture.
class Panel {
 public:
  static constexpr double left = 64, width = 600, height = 190;

  /// Says what is drawn where. The axes of all panels begin at the same x.
  struct Axes {
    double top;         ///< y of the upper edge in the picture
    std::size_t steps;  ///< number of epochs, at least 2
    double low, high;   ///< values at the lower and at the upper edge
    std::string title;
  };

  explicit Panel(Axes axes) : axes_(std::move(axes)) {}

  /// Returns the frame, the lines of the ticks, and the text.
  std::string frame() const {
    const double bottom = axes_.top + height;
    auto result = text(left, axes_.top - 10, "title", axes_.title);
    const double distance = tick_distance(axes_.high - axes_.low, 5);
    for (int i = 0; axes_.low + i * distance <= axes_.high * (1 + 1e-9); ++i) {
      const double value = axes_.low + i * distance;
      result += line(left, y(value), left + width, y(value), "tick") +
                text(left - 8, y(value) + 4, "left", fmt::format("{:g}", value));
    }
    const auto every = static_cast<std::size_t>(
        std::max(1.0, tick_distance(static_cast<double>(axes_.steps), 10)));
    for (std::size_t epoch = every; epoch <= axes_.steps; epoch += every)
      result += line(x(epoch), bottom, x(epoch), bottom + 5, "axis") +
                text(x(epoch), bottom + 19, "below", fmt::format("{}", epoch));
    return result + line(left, axes_.top, left, bottom, "axis") +
           line(left, bottom, left + width, bottom, "axis");
  }

  /// Returns a line through the values, the first one at epoch 1.
  std::string curve(const std::vector<double>& values, const std::string& colour) const {
    std::string points, dots;
    for (std::size_t i = 0; i < values.size(); ++i) {
      points += fmt::format("{:.1f},{:.1f} ", x(i + 1), y(values[i]));
      dots += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="{}"/>)", x(i + 1),
                          y(values[i]), colour);
    }
    return fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>)",
                       points, colour) +
           dots + '\n';
  }

  /// Returns a dashed line at a value, with a text beside its end.
  std::string level(double value, const std::string& label) const {
    return line(left, y(value), left + width, y(value), "level") +
           text(left + width + 6, y(value) + 4, "right", label);
  }

 private:
  double x(std::size_t epoch) const {
    return left + width * static_cast<double>(epoch) / static_cast<double>(axes_.steps);
  }
  double y(double value) const {
    return axes_.top + height * (axes_.high - value) / (axes_.high - axes_.low);
  }

  Axes axes_;
};

/// Returns the picture as SVG. `title` stands above it, and `wanted` is the accuracy that is asked for, in percent.
inline std::string curve_svg(const std::vector<Epoch>& epochs, const std::string& title,
                             double wanted) {
  std::vector<double> losses, accuracies;
  for (const auto& epoch : epochs) {
    losses.push_back(epoch.loss);
    accuracies.push_back(epoch.accuracy);
  }
  const auto steps = std::max<std::size_t>(epochs.size(), 2);
  const double most = std::ranges::max(losses), step = tick_distance(std::max(most, 1e-9), 5);
  const double least = std::min(std::ranges::min(accuracies), wanted - 5);
  const Panel loss({70, steps, 0, step * std::max(1.0, std::ceil(most / step)),
                    "Training loss (cross entropy)"});
  const Panel accuracy(
      {330, steps, 10 * std::floor(least / 10), 100, "Held-out digits that are right, percent"});
  return svg_start + text(Panel::left, 26, "head", title) + loss.frame() +
         loss.curve(losses, "#1f5fa8") + accuracy.frame() +
         accuracy.level(wanted, fmt::format("{:g}", wanted)) +
         accuracy.curve(accuracies, "#2b7a3d") +
         text(Panel::left + Panel::width / 2, 562, "below", "epoch") + "</svg>\n";
}

/// Writes a file. Returns whether that went well.
inline bool write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return !file.fail();
}

}  // namespace train
