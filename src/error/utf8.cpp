// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "error/utf8.hpp"

namespace tessera::detail {
namespace {

bool is_between(char c, unsigned char first, unsigned char last) {
  const auto byte = static_cast<unsigned char>(c);
  return first <= byte && byte <= last;
}

/// Returns the number of bytes of the character at the begin of `text`; 0 if there is none. Source:
/// The Unicode Standard, table 3-7.
std::size_t character_bytes(std::string_view text) {
  struct Form {
    unsigned char first[2];   ///< range of the first byte
    unsigned char second[2];  ///< range of the second one; the others are 80 … BF
    std::size_t bytes;
  };
  static constexpr Form forms[] = {
      {{0xc2, 0xdf}, {0x80, 0xbf}, 2}, {{0xe0, 0xe0}, {0xa0, 0xbf}, 3},
      {{0xe1, 0xec}, {0x80, 0xbf}, 3}, {{0xed, 0xed}, {0x80, 0x9f}, 3},
      {{0xee, 0xef}, {0x80, 0xbf}, 3}, {{0xf0, 0xf0}, {0x90, 0xbf}, 4},
      {{0xf1, 0xf3}, {0x80, 0xbf}, 4}, {{0xf4, 0xf4}, {0x80, 0x8f}, 4},
  };
  if (is_between(text[0], 0, 0x7f)) return 1;
  const auto* const form = std::ranges::find_if(
      forms, [&](const Form& each) { return is_between(text[0], each.first[0], each.first[1]); });
  if (form == std::end(forms) || text.size() < form->bytes) return 0;
  if (!is_between(text[1], form->second[0], form->second[1])) return 0;
  const auto rest = text.substr(2, form->bytes - 2);
  return std::ranges::all_of(rest, [](char c) { return is_between(c, 0x80, 0xbf); }) ? form->bytes
                                                                                     : 0;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto bytes = character_bytes(text);
    if (bytes == 0)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else
      result += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

}  // namespace tessera::detail
