// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tessera::detail {

/// A collective call, as the flight recorder keeps it.
struct RecordedCall {
  std::uint64_t sequence = 0;
  std::uint64_t fingerprint = 0;
  const char* name = "";         ///< static storage
  const void* caller = nullptr;  ///< code behind the call
  double time = 0;               ///< of its begin, seconds since 1970, to some milliseconds
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  bool has_failed = false;
};

/// Writes the record where the environment asks for it.
void dump_after_failure() noexcept;

}  // namespace tessera::detail
