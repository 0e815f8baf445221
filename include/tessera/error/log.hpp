// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tessera {

enum class LogLevel : std::uint8_t { warning, info };

/// Something that the library did otherwise than one would expect.
struct LogRecord {
  LogLevel level;
  const char* module;  ///< "comm", …: static storage
  std::string text;
};

using LogObserver = std::function<void(const LogRecord&)>;

/// Installs `observer` for records of this thread, and puts the previous one back when destroyed.
/// Nests: the previous one is told too. Without one the library is silent.
class LogScope {
 public:
  explicit LogScope(LogObserver observer);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  LogObserver observer_;
  LogScope* outer_;

  friend void log(const LogRecord&);
};

/// Tells the observers of this thread, innermost first.
void log(const LogRecord& record);

}  // namespace tessera
