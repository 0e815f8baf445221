// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include <tessera/comm/detail/environment.hpp>
#include <tessera/comm/detail/state.hpp>
#include <tessera/error/error.hpp>

namespace tessera::detail {
namespace {

constexpr auto operation = "tessera::Communicator::duplicate_of";

Agreement parse_level(const std::string& text) {
  if (text == "none") return Agreement::none;
  if (text == "plan") return Agreement::plan;
  require(text == "always", [&] {
    return fmt::format("TESSERA_AGREEMENT: expected none, plan or always, got \"{}\"", text);
  });
  return Agreement::always;
}

double parse_timeout(const std::string& text) {
  double seconds = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  require(error == std::errc() && stop == end && seconds > 0, [&] {
    return fmt::format("TESSERA_TIMEOUT: expected a number of seconds above 0, got \"{}\"", text);
  });
  return seconds;
}

}  // namespace

std::string variable_of_first(const Group& group, const char* name) {
  const char* mine = std::getenv(name);
  std::string text = mine == nullptr ? "" : mine;
  auto length = text.size();
  broadcast(group, std::as_writable_bytes(std::span(&length, 1)), 0, TraceKind::metadata,
            operation);
  text.resize(length);
  if (length > 0)
    broadcast(group, std::as_writable_bytes(std::span(text)), 0, TraceKind::metadata, operation);
  return text;
}

void learn_agreement(const Communicator& communicator) {
  const auto group = all_ranks(communicator);
  auto& options = communicator.state().control->options;
  const auto level = variable_of_first(group, "TESSERA_AGREEMENT");
  const auto timeout = variable_of_first(group, "TESSERA_TIMEOUT");
  if (!level.empty()) options.level = parse_level(level);
  if (!timeout.empty()) options.timeout = parse_timeout(timeout);
}

}  // namespace tessera::detail
