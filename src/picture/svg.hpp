// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// Returns the text with &, <, >, quotes and control characters made harmless in XML.
std::string escaped_xml(std::string_view text);

/// Returns a colour in SVG's notation, by number: eight that the colour-blind can tell apart (Okabe
/// and Ito), then lighter tints of them.
std::string colour_of(int number);

/// Returns a shade between white (0) and dark blue (1).
std::string shade_of(double fraction);

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 12;
  Anchor anchor = Anchor::middle;
  const char* fill = "#222222";
  bool is_bold = false;
  bool is_upward = false;  ///< rotated by 90 degrees, so that the text runs upwards
};

/// Estimates the width of a text, in the unit of `size`.
double text_width(std::string_view text, double size);

enum class Hatch { replicas, contributions };

/// Collects the elements of an SVG document. Texts are escaped.
class Svg {
 public:
  /// Adds a rectangle. If `tooltip` is not empty, viewers show it under the mouse.
  void rect(const Rect& rect, std::string_view fill, std::string_view stroke = "none",
            std::string_view tooltip = {});
  void hatch(const Rect& rect, Hatch hatch);
  /// Adds a light ground for text on a hatch.
  void plate(const Rect& rect);
  /// Adds text whose middle, start or end, see `style`, is at (x, y) on the baseline.
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  void arrow(double from_x, double to_x, double y);
  /// Returns the complete document.
  std::string document(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

}  // namespace tessera::detail
