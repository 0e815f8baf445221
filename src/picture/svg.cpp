// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "error/utf8.hpp"
#include "picture/svg.hpp"

namespace tessera::detail {

namespace {

struct Colour {
  int red;
  int green;
  int blue;
};

constexpr std::array<Colour, 8> palette{{{86, 180, 233},
                                         {230, 159, 0},
                                         {0, 158, 115},
                                         {240, 228, 66},
                                         {0, 114, 178},
                                         {213, 94, 0},
                                         {204, 121, 167},
                                         {153, 153, 153}}};

/// Defines the patterns of the hatches. Their ids begin with the library's name, so that several
/// documents may stand in one page.
constexpr const char* definitions = R"svg(<defs>
<pattern id="tessera-replicas" width="11" height="11" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="1.5" height="11" fill="#000000" fill-opacity="0.3"/></pattern>
<pattern id="tessera-contributions" width="11" height="11" patternUnits="userSpaceOnUse">
<circle cx="5.5" cy="5.5" r="1.7" fill="#000000" fill-opacity="0.45"/></pattern>
</defs>
)svg";

int mixed(int from, int to, double fraction) {
  return static_cast<int>(std::lround(from + (to - from) * fraction));
}

std::string mixed(const Colour& from, const Colour& to, double fraction) {
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(from.red, to.red, fraction),
                     mixed(from.green, to.green, fraction), mixed(from.blue, to.blue, fraction));
}

std::string number(double value) {
  return fmt::format("{:.6g}", std::round(value * 100) / 100);
}

std::string place(const Rect& rect) {
  return fmt::format(R"(x="{}" y="{}" width="{}" height="{}")", number(rect.x), number(rect.y),
                     number(rect.width), number(rect.height));
}

const char* name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::end ? "end" : "middle";
}

}  // namespace

std::string escaped_xml(std::string_view text) {
  std::string result;
  for (const char c : as_utf8(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += 0 <= c && c < ' ' ? ' ' : c;
    }
  }
  return result;
}

std::string colour_of(int number) {
  constexpr int tints = 4;
  constexpr double first = 0.25;
  constexpr double step = 0.17;
  const auto base = static_cast<std::size_t>(number) % palette.size();
  const int tint = number / static_cast<int>(palette.size()) % tints;
  return mixed(palette[base], {255, 255, 255}, first + step * tint);
}

std::string shade_of(double fraction) {
  return mixed({255, 255, 255}, {8, 69, 148}, std::clamp(fraction, 0.0, 1.0));
}

double text_width(std::string_view text, double size) {
  constexpr double wide = 0.62;
  const auto characters = std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return wide * size * static_cast<double>(characters);
}

void Svg::rect(const Rect& rect, std::string_view fill, std::string_view stroke,
               std::string_view tooltip) {
  body_ += fmt::format(R"(<rect {} fill="{}" stroke="{}")", place(rect), fill, stroke);
  body_ +=
      tooltip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped_xml(tooltip));
}

void Svg::hatch(const Rect& rect, Hatch hatch) {
  body_ += fmt::format(R"svg(<rect {} fill="url(#tessera-{})" pointer-events="none"/>)svg",
                       place(rect), hatch == Hatch::replicas ? "replicas" : "contributions");
  body_ += "\n";
}

void Svg::plate(const Rect& rect) {
  body_ += fmt::format(R"(<rect {} fill="#ffffff" fill-opacity="0.75" pointer-events="none"/>)",
                       place(rect));
  body_ += "\n";
}

void Svg::text(double x, double y, std::string_view text, const TextStyle& style) {
  const auto turn =
      style.is_upward ? fmt::format(R"svg( transform="rotate(-90 {} {})")svg", number(x), number(y))
                      : "";
  body_ +=
      fmt::format(R"(<text x="{}" y="{}" font-size="{}" text-anchor="{}" fill="{}"{}{}>{}</text>)",
                  number(x), number(y), number(style.size), name(style.anchor), style.fill,
                  style.is_bold ? R"( font-weight="bold")" : "", turn, escaped_xml(text));
  body_ += "\n";
}

void Svg::arrow(double from_x, double to_x, double y) {
  constexpr double head = 9;
  const auto line = number(y);
  body_ += fmt::format(
      R"(<path d="M{0} {1}H{2}M{3} {4}L{2} {1}L{3} {5}" fill="none" stroke="#444444" stroke-width="2.5"/>)",
      number(from_x), line, number(to_x), number(to_x - head), number(y - head / 2 - 1),
      number(y + head / 2 + 1));
  body_ += "\n";
}

std::string Svg::document(double width, double height, std::string_view title) const {
  return fmt::format(
             R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" font-family="DejaVu Sans, Verdana, Helvetica, Arial, sans-serif">)",
             number(width), number(height)) +
         "\n<title>" + escaped_xml(title) + "</title>\n" + definitions +
         fmt::format(R"(<rect width="{}" height="{}" fill="#ffffff"/>)", number(width),
                     number(height)) +
         "\n" + body_ + "</svg>\n";
}

}  // namespace tessera::detail
