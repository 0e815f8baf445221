// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

#include "serial.hpp"

namespace kmeans {

/// Holds square pictures, one per row.
class Pictures {
 public:
  explicit Pictures(const HostMatrix& rows) : rows_(rows) {
    while (width_ * width_ < rows.extent(1)) ++width_;
    for (std::size_t i = 0; i < rows.extent(0); ++i)
      for (std::size_t j = 0; j < rows.extent(1); ++j) largest_ = std::max(largest_, rows(i, j));
  }

  std::size_t size() const { return rows_.extent(0); }
  std::size_t width() const { return width_; }
  /// Returns how dark a pixel is, from 0 to 1.
  double pixel(std::size_t picture, std::size_t i, std::size_t j) const {
    return largest_ > 0 ? std::max(0.0, rows_(picture, i * width_ + j) / largest_) : 0;
  }

 private:
  HostMatrix rows_;
  std::size_t width_ = 0;
  double largest_ = 0;
};

/// Returns the pictures as text, five beside one another, with two characters for a pixel.
inline std::string as_text(const Pictures& pictures) {
  constexpr std::size_t beside = 5;
  constexpr std::string_view shades = " .:-=+*#%@";
  std::string text;
  for (std::size_t first = 0; first < pictures.size(); first += beside) {
    const auto end = std::min(first + beside, pictures.size());
    for (std::size_t i = 0; i < pictures.width(); ++i) {
      for (std::size_t picture = first; picture < end; ++picture)
        for (std::size_t j = 0; j <= pictures.width(); ++j) {
          const double dark = j < pictures.width() ? pictures.pixel(picture, i, j) : 0;
          text.append(2, shades[static_cast<std::size_t>(std::lround(dark * 9))]);
        }
      text += '\n';
    }
    text += '\n';
  }
  return text;
}

/// Writes the pictures beside one another as a binary PGM file, with 8 x 8 points for a pixel.
/// Returns whether that went well.
inline bool write_pgm(const std::string& path, const Pictures& pictures) {
  constexpr std::size_t scale = 8;
  const auto cells = pictures.size() * (pictures.width() + 1) - 1;  // one between pictures
  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << cells * scale << ' ' << pictures.width() * scale << "\n255\n";
  for (std::size_t i = 0; i < pictures.width() * scale; ++i)
    for (std::size_t point = 0; point < cells * scale; ++point) {
      const auto picture = point / scale / (pictures.width() + 1);
      const auto j = point / scale % (pictures.width() + 1);
      const double dark = j < pictures.width() ? pictures.pixel(picture, i / scale, j) : 0;
      file.put(static_cast<char>(static_cast<unsigned char>(std::lround(255 * (1 - dark)))));
    }
  file.close();
  return !file.fail();
}

}  // namespace kmeans
