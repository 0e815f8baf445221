// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tessera {

/// A LogLevel says how much a record matters. Settings that name a level also record the levels
/// above it in this list.
enum class LogLevel : std::uint8_t {
  warning,  ///< the library does something other than one would expect
  info,     ///< decisions that are made once: transports, plans
  debug,    ///< what the library does in each call
};

/// A LogRecord is one entry of the library's log.
struct LogRecord {
  LogLevel level;
  const char* module;  ///< "comm", "redistribute", …: a string in static storage
  std::string text;
};

/// Returns "comm: warning: …": the module, the level and the text.
std::string to_string(const LogRecord& record);

/// A LogObserver is the function that a LogScope calls with each record.
using LogObserver = std::function<void(const LogRecord&)>;

/// Calls `observer` with each record of this thread while the scope lives. Scopes nest: the
/// observers of outer scopes are called, too. The settings decide what is recorded; by default
/// warnings are.
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

/// LogSettings say what is recorded, and whether records are also printed.
struct LogSettings {
  std::map<std::string, LogLevel, std::less<>> levels = {};  ///< highest level, by module
  LogLevel otherwise = LogLevel::warning;                    ///< highest level elsewhere
  bool prints = false;           ///< whether records are printed to stderr
  bool is_on_all_ranks = false;  ///< whether all ranks print, or only rank 0 of MPI_COMM_WORLD

  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

/// Returns the settings that `text` describes, with printing on: "redistribute:debug,comm:info"
/// gives the levels of two modules, a level alone is that of all other modules, and "ranks:all"
/// lets all ranks print.
///
/// Errors: InvalidArgument.
LogSettings parse_log_settings(std::string_view text);

/// Replaces the settings of this process. Until the first call they are those that the environment
/// variable TESSERA_LOG describes; without the variable nothing is printed.
void set_log_settings(const LogSettings& settings);
/// Returns the current settings of this process. Local.
LogSettings log_settings();

/// Passes `record` to the observers of this thread, innermost first, and prints it, if the settings
/// say so.
void log(const LogRecord& record);

namespace detail {

/// Holds the highest level that is recorded of any module; no record above it is made.
inline std::atomic<LogLevel> highest_log_level{LogLevel::debug};  // until the settings are read

/// Returns whether the settings record this level of the module.
bool is_recorded(const char* module, LogLevel level);
/// Sets the rank of this process in MPI_COMM_WORLD, which decides whether it prints.
void set_log_rank(int world_rank);

}  // namespace detail

/// Records the text that make() returns, if the settings record this level of the module; otherwise
/// make() is not called.
template <class Make>
void log(LogLevel level, const char* module, const Make& make) {
  if (level > detail::highest_log_level.load(std::memory_order_relaxed)) return;
  if (detail::is_recorded(module, level)) log({level, module, make()});
}

}  // namespace tessera
