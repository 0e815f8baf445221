// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/agreement/detail/operation.hpp>

#include "io/shared_errors.hpp"

namespace tessera::detail {

void throw_error_of_first(const Group& group, std::string error, const char* operation) {
  auto length = error.size();
  broadcast(group, std::as_writable_bytes(std::span(&length, 1)), 0, TraceKind::agreement,
            operation);
  if (length == 0) return;
  error.resize(length);
  broadcast(group, std::as_writable_bytes(std::span(error)), 0, TraceKind::agreement, operation);
  common([&] { require<IoError>(false, error); });
}

}  // namespace tessera::detail
