// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "error/json.hpp"
#include "error/utf8.hpp"

namespace tessera::detail {

std::string json_quoted(std::string_view text) {
  constexpr unsigned char first_printable = 0x20;
  std::string result = "\"";
  for (const char c : as_utf8(text)) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < first_printable)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + '"';
}

}  // namespace tessera::detail
