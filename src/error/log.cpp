// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>

namespace tessera {
namespace {

thread_local LogScope* innermost_log = nullptr;

constexpr std::array<std::string_view, 3> level_names{"warning", "info", "debug"};

LogLevel parse_level(std::string_view text, std::string_view all) {
  const auto found = std::ranges::find(level_names, text);
  require(found != level_names.end(), [&] {
    return fmt::format(
        "TESSERA_LOG: expected levels such as redistribute:debug,comm:info (warning, info, debug), "
        "got \"{}\"",
        all);
  });
  return static_cast<LogLevel>(found - level_names.begin());
}

/// Returns the settings that TESSERA_LOG describes. If it cannot be read, `mistake` says why; this
/// is a warning, not an exception, because each rank has its own variable and the other ranks go
/// on.
LogSettings settings_of_environment(std::string& mistake) {
  const char* const text = std::getenv("TESSERA_LOG");
  if (text == nullptr || *text == '\0') return {};
  try {
    return parse_log_settings(text);
  } catch (const InvalidArgument& error) {
    mistake = error.what();
    return {.prints = true, .is_on_all_ranks = true};
  }
}

LogLevel highest_of(const LogSettings& settings) {
  auto highest = settings.otherwise;
  for (const auto& [module, level] : settings.levels) highest = std::max(highest, level);
  return highest;
}

struct Current {
  std::mutex mutex;
  std::string mistake;  ///< what is wrong with TESSERA_LOG, until it is logged
  LogSettings settings = settings_of_environment(mistake);
  int rank = 0;

  Current() { detail::highest_log_level = highest_of(settings); }
};

// Never destroyed, because destructors of static objects may still log.
Current& current() {
  static auto& instance = *new Current;
  return instance;
}

/// Returns the rank of this process in MPI_COMM_WORLD if it prints, otherwise nothing.
std::optional<int> printing_rank() {
  auto& now = current();
  const std::lock_guard lock(now.mutex);
  const bool prints = now.settings.prints && (now.settings.is_on_all_ranks || now.rank == 0);
  return prints ? std::optional(now.rank) : std::nullopt;
}

}  // namespace

std::string to_string(const LogRecord& record) {
  return fmt::format("{}: {}: {}", record.module,
                     level_names[static_cast<std::size_t>(record.level)], record.text);
}

LogScope::LogScope(LogObserver observer)
    : observer_(std::move(observer)), outer_(std::exchange(innermost_log, this)) {}

LogScope::~LogScope() {
  innermost_log = outer_;
}

LogSettings parse_log_settings(std::string_view text) {
  LogSettings settings;
  settings.prints = true;
  for (auto rest = text; !rest.empty();) {
    const auto item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const auto colon = item.find(':');
    if (item == "ranks:all")
      settings.is_on_all_ranks = true;
    else if (colon == std::string_view::npos)
      settings.otherwise = parse_level(item, text);
    else
      settings.levels[std::string(item.substr(0, colon))] =
          parse_level(item.substr(colon + 1), text);
  }
  return settings;
}

void set_log_settings(const LogSettings& settings) {
  auto& now = current();
  const std::lock_guard lock(now.mutex);
  now.settings = settings;
  detail::highest_log_level = highest_of(settings);
}

LogSettings log_settings() {
  auto& now = current();
  const std::lock_guard lock(now.mutex);
  return now.settings;
}

void log(const LogRecord& record) {
  if (!detail::is_recorded(record.module, record.level)) return;
  for (auto* scope = innermost_log; scope != nullptr; scope = scope->outer_)
    scope->observer_(record);
  if (const auto rank = printing_rank())
    std::fprintf(stderr, "[tessera rank %d] %s\n", *rank, to_string(record).c_str());
}

namespace detail {

bool is_recorded(const char* module, LogLevel level) {
  auto& now = current();
  const std::lock_guard lock(now.mutex);
  const auto found = now.settings.levels.find(std::string_view(module));
  return level <= (found == now.settings.levels.end() ? now.settings.otherwise : found->second);
}

void set_log_rank(int world_rank) {
  std::string mistake;
  {
    auto& now = current();
    const std::lock_guard lock(now.mutex);
    now.rank = world_rank;
    mistake = std::exchange(now.mistake, "");
  }
  if (!mistake.empty()) log({LogLevel::warning, "error", mistake});
}

}  // namespace detail
}  // namespace tessera
