// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <tessera/io/detail/agreement.hpp>

namespace tessera::detail {

void require_same_arguments(const Group& group, std::uint64_t fingerprint, const char* function) {
  const auto all = all_gather_value(group, fingerprint, TraceKind::agreement, function);
  const auto other = std::ranges::find_if(all, [&](auto value) { return value != all.front(); });
  require(other == all.end(), [&] {
    return fmt::format(
        "{}: expected the same path and distribution on every rank, got others on mesh ranks 0 "
        "and {}",
        function, other - all.begin());
  });
}

void throw_error_of_first(const Group& group, std::string error, const char* operation) {
  auto length = error.size();
  broadcast(group, std::as_writable_bytes(std::span(&length, 1)), 0, TraceKind::agreement,
            operation);
  if (length == 0) return;
  error.resize(length);
  broadcast(group, std::as_writable_bytes(std::span(error)), 0, TraceKind::agreement, operation);
  throw IoError(error);
}

}  // namespace tessera::detail
