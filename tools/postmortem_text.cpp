// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Reads flight records, and describes in text what they show.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tessera/error/error.hpp>

#include "postmortem.hpp"

namespace tessera::tools {
namespace {

using nlohmann::json;

constexpr int nested_bits = 32;
constexpr std::uint64_t outermost = std::uint64_t{1} << (nested_bits - 1);

Entry entry_from(const json& call, const std::string& mesh) {
  return {mesh,
          call.at("function"),
          call.at("call"),
          call.at("fingerprint"),
          call.at("state"),
          call.at("caller"),
          call.at("time")};
}

void add_mesh(const json& mesh, Record& record) {
  auto set = mesh.at("processes").get<std::vector<int>>();
  std::ranges::sort(set);
  auto& on_set = record.by_set[set];
  on_set.forgotten = mesh.at("forgotten");
  for (const auto& call : mesh.at("calls"))
    on_set.calls[call.at("sequence")] = entry_from(call, mesh.at("mesh"));
}

/// Reads one flight record; returns nullopt if the file does not hold one.
std::optional<Record> record_from(const std::filesystem::path& path) {
  try {
    std::ifstream file(path);
    const auto all = json::parse(file);
    Record record{all.at("process")};
    for (const auto& mesh : all.at("meshes")) add_mesh(mesh, record);
    return record;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string ranks_text(const std::vector<int>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

/// Formats the number of a call: "17", or "17.2" for the second call inside the 17th.
std::string call_number(std::uint64_t sequence) {
  const auto inner = sequence & ((std::uint64_t{1} << nested_bits) - 1);
  const auto nested = inner & ~outermost;
  const auto generation = sequence >> nested_bits;
  return nested == 0 ? fmt::format("{}", generation) : fmt::format("{}.{}", generation, nested);
}

std::string clock_time(double time) {
  const auto seconds = static_cast<std::time_t>(std::floor(time));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:06.3f} UTC", parts.tm_hour, parts.tm_min,
                     parts.tm_sec + (time - std::floor(time)));
}

std::string call_text(const std::optional<Entry>& entry) {
  if (!entry) return "no call";
  if (entry->fingerprint.find_first_not_of('0') == std::string::npos && entry->state == "failed")
    return entry->call + ", which failed before its arguments were compared";
  return entry->call;
}

std::string line_of(const Side& side) {
  auto line = fmt::format("  {}: {}", ranks_text(side.processes), call_text(side.entry));
  if (!side.entry) return line + '\n';
  line += fmt::format("\n    on mesh {}, {}, begun {}", side.entry->mesh, side.entry->state,
                      clock_time(side.entry->time));
  if (!side.entry->caller.empty()) line += "\n    called from " + side.entry->caller;
  return line + '\n';
}

std::string headline(const Divergence& divergence) {
  const auto& first = divergence.sides[0];
  const auto& second = divergence.sides[1];
  const bool is_clear =
      divergence.sides.size() > 2 || first.processes.size() > second.processes.size();
  if (!is_clear)
    return fmt::format("{} made {} where {} made {}", ranks_text(second.processes),
                       call_text(second.entry), ranks_text(first.processes),
                       call_text(first.entry));
  std::vector<std::string> odd;
  for (auto side = divergence.sides.begin() + 1; side != divergence.sides.end(); ++side)
    odd.push_back(fmt::format("{} made {}", ranks_text(side->processes), call_text(side->entry)));
  return fmt::format("{} where the others made {}", fmt::join(odd, ", "), call_text(first.entry));
}

}  // namespace

std::vector<Record> read_records(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    const auto name = file.path().filename().string();
    if (name.starts_with("tessera-flight-") && name.ends_with(".json")) paths.push_back(file);
  }
  require<IoError>(!paths.empty(), [&] {
    return fmt::format("expected a folder with tessera-flight-<rank>.json, got {}",
                       folder.string());
  });
  std::vector<Record> records;
  for (const auto& path : paths)
    if (auto record = record_from(path)) records.push_back(std::move(*record));
  require<IoError>(!records.empty(), [&] {
    return fmt::format("expected flight records, got none that can be read in {}", folder.string());
  });
  std::ranges::sort(records, {}, &Record::process);
  return records;
}

std::string to_string(const Postmortem& result) {
  std::string text;
  if (result.divergence) {
    const auto& divergence = *result.divergence;
    text = fmt::format("{}\ncall {} on {}:\n", headline(divergence),
                       call_number(divergence.sequence), ranks_text(divergence.set));
    for (const auto& side : divergence.sides) text += line_of(side);
  } else if (result.failure) {
    text = fmt::format("all made the same calls; the first that failed:\n{}",
                       line_of(*result.failure));
  } else {
    text = "all made the same calls, and none failed\n";
  }
  text += fmt::format("records of {}", ranks_text(result.recorded));
  if (!result.missing.empty())
    text += fmt::format("; none of {}: dead, or not notified by an exception",
                        ranks_text(result.missing));
  return text + '\n';
}

}  // namespace tessera::tools
