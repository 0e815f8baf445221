// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/mpi/trace.hpp>

namespace tessera::test {

/// Counts what this rank communicates while the object lives.
class Traffic {
 public:
  int exchanges() const { return exchanges_; }
  int metadata() const { return metadata_; }
  int agreements() const { return agreements_; }
  std::int64_t bytes_sent() const { return bytes_sent_; }
  std::int64_t bytes_received() const { return bytes_received_; }

 private:
  void add(const TraceEvent& event) {
    if (event.kind == TraceKind::metadata) ++metadata_;
    if (event.kind == TraceKind::agreement) ++agreements_;
    if (event.kind != TraceKind::exchange) return;
    ++exchanges_;
    bytes_sent_ += event.bytes_sent;
    bytes_received_ += event.bytes_received;
  }

  int exchanges_ = 0;
  int metadata_ = 0;
  int agreements_ = 0;
  std::int64_t bytes_sent_ = 0;
  std::int64_t bytes_received_ = 0;
  TraceScope scope_{[this](const TraceEvent& event) { add(event); }};
};

}  // namespace tessera::test
