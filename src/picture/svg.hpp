// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// The text with &, <, >, quotes and control characters made harmless in XML.
std::string escaped_xml(std::string_view text);

/// A colour as SVG knows it, by number: eight that the colour-blind can tell apart (Okabe and Ito),
/// then lighter ones of the same.
std::string colour_of(int number);

/// From white (0) to dark blue (1).
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
  bool is_upward = false;  ///< turned by a quarter, to the left
};

/// About how wide a text is, in units of its size's.
double text_width(std::string_view text, double size);

enum class Hatch { replicas, terms };

/// Collects the elements of an SVG document. Texts are escaped.
class Svg {
 public:
  /// `tooltip`, where not empty, is shown by viewers that know the mouse.
  void rect(const Rect& rect, std::string_view fill, std::string_view stroke = "none",
            std::string_view tooltip = {});
  void hatch(const Rect& rect, Hatch hatch);
  /// Light ground for a text upon a hatch.
  void plate(const Rect& rect);
  /// Centred upon the baseline at (x, y), or from or up to it.
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  void arrow(double from_x, double to_x, double y);
  /// The whole document.
  std::string document(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

}  // namespace tessera::detail
