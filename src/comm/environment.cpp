// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include <tessera/error/error.hpp>

#include "comm/communicator_state.hpp"
#include "comm/environment.hpp"

namespace tessera::detail {
namespace {

Agreement parse_level(const std::string& text) {
  if (text == "none") return Agreement::none;
  if (text == "plan") return Agreement::plan;
  require(text == "always", [&] {
    return fmt::format("TESSERA_AGREEMENT: expected none, plan or always, got \"{}\"", text);
  });
  return Agreement::always;
}

/// Parses `text`, and returns whether all of it is a number.
template <class Number>
bool parse(const std::string& text, Number& number) {
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

double parse_seconds(const char* name, const std::string& text, double least) {
  double seconds = 0;
  require(parse(text, seconds) && seconds >= least, [&] {
    return fmt::format("{}: expected a number of seconds of {} or more, got \"{}\"", name, least,
                       text);
  });
  return seconds;
}

}  // namespace

std::int64_t parse_bytes(const char* name, const std::string& text) {
  std::int64_t bytes = 0;
  require(parse(text, bytes) && bytes >= 0,
          [&] { return fmt::format("{}: expected a number of bytes, got \"{}\"", name, text); });
  return bytes;
}

double own_time_limit() {
  const AgreementOptions defaults;
  const char* text = std::getenv("TESSERA_TIMEOUT");
  double seconds = 0;
  return text != nullptr && parse(text, seconds) && seconds >= least_timeout ? seconds
                                                                             : defaults.timeout;
}

std::string variable_of_first(const Group& group, const char* name) {
  const char* mine = std::getenv(name);
  std::string text = mine == nullptr ? "" : mine;
  auto length = text.size();
  broadcast(group, std::as_writable_bytes(std::span(&length, 1)), 0, TraceKind::metadata,
            setup_operation);
  text.resize(length);
  if (length > 0)
    broadcast(group, std::as_writable_bytes(std::span(text)), 0, TraceKind::metadata,
              setup_operation);
  return text;
}

void read_agreement_options(const Communicator& communicator) {
  const auto group = all_ranks(communicator);
  auto& options = communicator.state().control->options;
  const auto level = variable_of_first(group, "TESSERA_AGREEMENT");
  if (!level.empty()) options.level = parse_level(level);
  const auto timeout = variable_of_first(group, "TESSERA_TIMEOUT");
  // Until here this rank's own limit held.
  options.timeout = timeout.empty() ? AgreementOptions().timeout
                                    : parse_seconds("TESSERA_TIMEOUT", timeout, least_timeout);
  const auto patience = variable_of_first(group, "TESSERA_PATIENCE");
  if (!patience.empty())
    options.patience = parse_seconds("TESSERA_PATIENCE", patience, least_patience);
}

}  // namespace tessera::detail
