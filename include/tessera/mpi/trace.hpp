// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace tessera {

class DTensorSpec;
class Operation;

/// A TraceKind says what a communication is for. Tensor data moves as `exchange`; replicas that
/// from_local compares (`run_check`) move as `metadata`. A call of an operator is `operation`,
/// whether it communicates or not; its communication has events of its own. `parameter` is no
/// communication: a module whose forward pass begins shows a parameter that it holds.
enum class TraceKind : std::uint8_t { exchange, agreement, metadata, io, operation, parameter };

/// Describes one communication, or one call of an operator, as the calling rank saw it. It is
/// emitted when that is complete.
struct TraceEvent {
  TraceKind kind;
  const char* operation;  ///< "tessera::redistribute", …: a string in static storage
  int group_size;         ///< number of ranks that take part
  std::int64_t bytes_sent;
  std::int64_t bytes_received;
  std::int64_t messages_sent;  ///< a message that exceeds MPI's limit counts as several
  std::int64_t messages_received;
  double seconds;  ///< wall time from start to completion, seconds

  double start = 0;                 ///< detail::seconds() at the start; 0: not known
  std::int64_t bytes_packed = 0;    ///< sent bytes that were first copied to a buffer or window
  bool uses_window = false;         ///< whether data went through the window of the node
  bool uses_messages = false;       ///< whether data went in MPI messages
  const Operation* call = nullptr;  ///< call it belongs to, or null; valid in observers

  /// Describes the call of an operator: its operands, the chosen rule, the result. Gives the name
  /// of a parameter after those of its modules, as "Mlp.fc1.weight". Otherwise null. Valid in
  /// observers.
  const char* description = nullptr;
  bool is_implicit = false;  ///< whether an operator moved an operand that its caller did not move
  bool is_trivial = false;   ///< whether an operator moved no operand and communicated nothing
  const DTensorSpec* spec = nullptr;  ///< spec of a parameter, otherwise null; valid in observers
};

/// A TraceObserver is the function that a TraceScope calls with each event.
using TraceObserver = std::function<void(const TraceEvent&)>;

/// Calls `observer` with each event of this thread while the scope lives. Scopes nest: the
/// observers of outer scopes are called, too.
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

/// Returns whether this thread has an observer.
bool is_traced();
/// Passes `event` to the observers of this thread, innermost first.
void emit(const TraceEvent& event);

}  // namespace tessera
