// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace tessera {

class Operation;

/// What a communication was for. Tensor data moves as `exchange`; replicas that from_local compares
/// (`run_check`) as `metadata`.
enum class TraceKind : std::uint8_t { exchange, agreement, metadata, io };

/// One communication, as the calling rank saw it. Emitted when it is complete.
struct TraceEvent {
  TraceKind kind;
  const char* operation;  ///< "tessera::redistribute", …: static storage
  int group_size;         ///< ranks that take part
  std::int64_t bytes_sent;
  std::int64_t bytes_received;
  std::int64_t messages_sent;  ///< one that is longer than MPI takes counts as several
  std::int64_t messages_received;
  double seconds;  ///< wall time from start to completion

  double start = 0;               ///< detail::seconds() then; 0: not known
  std::int64_t bytes_packed = 0;  ///< of those sent, copied to a buffer or window first
  bool uses_window = false;       ///< of the node
  bool uses_messages = false;
  const Operation* call = nullptr;  ///< to which it belongs, while the observers are told; or null
};

/// What a TraceScope calls with each event.
using TraceObserver = std::function<void(const TraceEvent&)>;

/// Installs `observer` for events of this thread, and puts the previous one back when destroyed.
/// Nests: the previous one is told too.
class TraceScope {
 public:
  explicit TraceScope(TraceObserver observer);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  TraceObserver observer_;
  TraceScope* outer_;

  friend void emit(const TraceEvent&);
};

/// Whether this thread has an observer.
bool is_traced();
/// Tells the observers of this thread, innermost first.
void emit(const TraceEvent& event);

}  // namespace tessera
