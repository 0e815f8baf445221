// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/error/error.hpp>

#include "io/shared_errors.hpp"

namespace tessera::detail {

void require_path(const std::string& path) {
  require(path.find('\0') == std::string::npos, "expected a path without NUL characters");
}

std::string text_of_first(const Group& group, std::string text, TraceKind kind,
                          const char* operation) {
  auto length = text.size();
  broadcast(group, std::as_writable_bytes(std::span(&length, 1)), 0, kind, operation);
  text.resize(length);
  if (length > 0) broadcast(group, std::as_writable_bytes(std::span(text)), 0, kind, operation);
  return text;
}

void throw_error_of_first(const Group& group, std::string error, const char* operation) {
  const auto text = text_of_first(group, std::move(error), TraceKind::agreement, operation);
  if (text.empty()) return;
  common([&] { require<IoError>(false, text); });
}

}  // namespace tessera::detail
