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

/// How much a record matters. Settings that name a level record those above it in this list, too.
enum class LogLevel : std::uint8_t {
  warning,  ///< something that the library did otherwise than one would expect
  info,     ///< what it has decided, once: transports, plans
  debug,    ///< what it does in each call
};

/// One thing that the library tells.
struct LogRecord {
  LogLevel level;
  const char* module;  ///< "comm", "redistribute", …: static storage
  std::string text;
};

/// "comm: warning: …"
std::string to_string(const LogRecord& record);

/// What a LogScope calls with each record.
using LogObserver = std::function<void(const LogRecord&)>;

/// Installs `observer` for records of this thread, and puts the previous one back when destroyed.
/// Nests: the previous one is told too. Which records there are is up to the settings: by default
/// warnings.
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

/// What is recorded, and whether records are printed besides.
struct LogSettings {
  std::map<std::string, LogLevel, std::less<>> levels = {};  ///< by module
  LogLevel otherwise = LogLevel::warning;                    ///< of other modules
  bool prints = false;                                       ///< to stderr
  bool is_on_all_ranks = false;  ///< else only rank 0 of MPI_COMM_WORLD prints

  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

/// Settings in words: "redistribute:debug,comm:info", a level alone for all other modules, and
/// "ranks:all". They print.
///
/// Errors: InvalidArgument.
LogSettings parse_log_settings(std::string_view text);

/// Replaces the settings of this process, which begin as the environment variable TESSERA_LOG has
/// them in words; without it nothing is printed.
void set_log_settings(const LogSettings& settings);
/// The settings of this process, as they are now. Local.
LogSettings log_settings();

/// Tells the observers of this thread, innermost first, and prints, as the settings have it.
void log(const LogRecord& record);

namespace detail {

/// The highest level of any module.
inline std::atomic<LogLevel> highest_log_level{LogLevel::debug};  // until the settings were read

bool is_recorded(const char* module, LogLevel level);
/// Which rank prints.
void set_log_rank(int world_rank);

}  // namespace detail

/// Records what make() returns, if that level of the module is recorded: it is called only then.
template <class Make>
void log(LogLevel level, const char* module, const Make& make) {
  if (level > detail::highest_log_level.load(std::memory_order_relaxed)) return;
  if (detail::is_recorded(module, level)) log({level, module, make()});
}

}  // namespace tessera
