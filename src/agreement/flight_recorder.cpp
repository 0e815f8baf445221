// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/agreement/flight_recorder.hpp>
#include <tessera/error/error.hpp>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"
#include "agreement/recorded_call.hpp"
#include "error/json.hpp"
#include "mpi/world_rank.hpp"

namespace tessera {
namespace detail {
namespace {

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : symbol;
}

/// "solve(Mesh const&)+0x1f4 in ./app"; the file with an offset where symbols are missing.
std::string code_at(const void* address) {
  Dl_info found{};
  if (address == nullptr) return {};
  // A call may be the last instruction of its function.
  if (dladdr(static_cast<const char*>(address) - 1, &found) == 0) return {};
  const auto offset = [&](const void* base) {
    return static_cast<const char*>(address) - static_cast<const char*>(base);
  };
  if (found.dli_sname == nullptr)
    return fmt::format("{}+{:#x}", found.dli_fname, offset(found.dli_fbase));
  return fmt::format("{}+{:#x} in {}", demangled(found.dli_sname), offset(found.dli_saddr),
                     found.dli_fname);
}

std::string to_json(const RecordedCall& call, const OperationLog& log, const char* state) {
  const auto in_words = log.in_words(call.fingerprint, call.name);
  const auto failed =
      std::ranges::find(log.failed, call.sequence, &OperationLog::FailedText::sequence);
  const auto& text = failed == log.failed.end() ? in_words.text : failed->text;
  return fmt::format(
      R"({{"sequence":{},"function":{},"call":{},"fingerprint":"{:016x}","state":"{}",)"
      R"("time":{:.3f},"bytes_sent":{},"bytes_received":{},"caller":{}}})",
      call.sequence, json_quoted(call.name), json_quoted(text), call.fingerprint, state, call.time,
      call.bytes_sent, call.bytes_received, json_quoted(code_at(call.caller)));
}

std::string calls_in_json(const OperationLog& log) {
  std::vector<std::string> calls;
  for (std::size_t i = 0; i < log.past.size(); ++i) {
    const auto& call = log.past[(log.oldest + i) % log.past.size()];
    if (call.sequence != 0)
      calls.push_back(to_json(call, log, call.has_failed ? "failed" : "completed"));
  }
  for (const auto& call : log.control.calls_under_way(log))
    calls.push_back(to_json(call, log, "running"));
  return fmt::format("{}", fmt::join(calls, ",\n"));
}

std::string to_json(const OperationLog& log) {
  return fmt::format(
      R"({{"mesh":{},"key":"{:016x}","processes":[{}],"position":{},"forgotten":{},"calls":[)"
      "\n{}]}}",
      json_quoted(log.name), log.key, fmt::join(log.control.processes_of(log), ","), log.position,
      log.set.forgotten, calls_in_json(log));
}

}  // namespace

void dump_after_failure() noexcept {
  const char* const folder = std::getenv("TESSERA_FLIGHT_RECORDER");
  if (folder == nullptr || *folder == '\0') return;
  try {
    dump_flight_record(folder);
  } catch (...) {
    // The exception under way says more than a folder that cannot be written.
  }
}

}  // namespace detail

std::string flight_record() {
  std::vector<std::string> meshes;
  for (const auto* control : detail::live_controls())
    for (const auto* log : control->logs())
      if (log->position >= 0) meshes.push_back(detail::to_json(*log));
  return fmt::format(R"({{"tessera":"flight record","process":{},"meshes":[{}]}})"
                     "\n",
                     detail::world_rank(), fmt::join(meshes, ",\n"));
}

void dump_flight_record(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto name = fmt::format("tessera-flight-{}.json", detail::world_rank());
  // Whole or not at all: the launcher may kill this process meanwhile.
  const auto unfinished = folder / (name + ".tmp");
  std::ofstream file(unfinished);
  file << flight_record() << std::flush;
  const bool is_written = file.good();
  if (is_written) std::filesystem::rename(unfinished, folder / name, error);
  require<IoError>(is_written && !error, [&] {
    return fmt::format("dump_flight_record: expected a folder to write to, got {}",
                       folder.string());
  });
}

}  // namespace tessera
