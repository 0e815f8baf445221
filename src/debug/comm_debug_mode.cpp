// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/debug/comm_debug_mode.hpp>

#include "debug/comm_records.hpp"
#include "mpi/clock.hpp"

namespace tessera {
namespace detail {

std::string kind_name(const CommRecord& record) {
  static constexpr std::array<std::string_view, 5> collectives{
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"};
  switch (record.kind) {
    case TraceKind::agreement:
      return "agreement";
    case TraceKind::metadata:
      return "metadata";
    case TraceKind::io:
      return "io";
    case TraceKind::operation:
      return "operator";
    default:
      return std::ranges::find(collectives, record.operation) != collectives.end() ? "collective"
                                                                                   : "redistribute";
  }
}

std::string call_of(const CommRecord& record) {
  return (record.call.empty() ? record.operation : record.call) +
         (record.is_implicit ? " (implicit)" : "");
}

std::string path_of(const std::vector<std::string>& region) {
  return fmt::format("{}", fmt::join(region, "/"));
}

bool write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  return out.good();
}

}  // namespace detail

namespace {

bool is_operator(const TraceEvent& event) {
  return event.kind == TraceKind::operation;
}

/// Returns the name of the operator or of the user's call; outside of calls that of the function of
/// the library.
std::string name_of(const TraceEvent& event) {
  if (event.call != nullptr && !is_operator(event)) return event.call->name();
  std::string_view operation = event.operation;
  constexpr std::string_view prefix = "tessera::";
  if (operation.starts_with(prefix)) operation.remove_prefix(prefix.size());
  return std::string(operation);
}

std::string call_of(const TraceEvent& event) {
  if (is_operator(event)) return event.description == nullptr ? "" : event.description;
  return event.call == nullptr ? "" : event.call->in_words();
}

std::string transport_of(const TraceEvent& event) {
  if (event.uses_window) return event.uses_messages ? "window and messages" : "window";
  return event.uses_messages ? "messages" : "none";
}

double epoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

CommDebugMode::CommDebugMode()
    : begin_(detail::seconds()),
      begin_epoch_(epoch()),
      scope_([this](const TraceEvent& event) { add(event); }) {}

void CommDebugMode::add(const TraceEvent& event) {
  if (event.kind == TraceKind::parameter) {
    add_parameter(event);
    return;
  }
  records_.push_back(
      {event.kind, name_of(event), call_of(event), event.call == nullptr ? "" : event.call->mesh(),
       regions_.regions(), event.group_size, event.bytes_sent, event.bytes_received,
       event.bytes_packed, event.messages_sent, event.messages_received,
       event.start == 0 ? detail::seconds() - event.seconds - begin_ : event.start - begin_,
       event.seconds, transport_of(event), event.is_implicit, event.is_trivial});
}

void CommDebugMode::add_parameter(const TraceEvent& event) {
  const auto region = regions_.regions();
  std::erase_if(parameters_, [&](const SeenParameter& parameter) {
    return parameter.name == event.description && parameter.region == region;
  });
  parameters_.push_back({event.description, region, *event.spec});
}

std::map<std::string, DTensorSpec> CommDebugMode::get_parameter_info() const {
  std::map<std::string, DTensorSpec> result;
  for (const auto& parameter : parameters_) result.insert_or_assign(parameter.name, parameter.spec);
  return result;
}

std::int64_t CommDebugMode::get_total_counts() const {
  return std::ranges::count(records_, TraceKind::exchange, &CommRecord::kind);
}

std::map<std::string, std::int64_t> CommDebugMode::get_comm_counts() const {
  std::map<std::string, std::int64_t> result;
  for (const auto& record : records_) ++result[detail::kind_name(record)];
  return result;
}

std::map<std::string, std::vector<std::string>> CommDebugMode::get_sharding_info() const {
  std::map<std::string, std::vector<std::string>> result;
  for (const auto& record : records_)
    if (record.kind == TraceKind::exchange || record.kind == TraceKind::operation)
      result[detail::path_of(record.region)].push_back(detail::call_of(record));
  return result;
}

}  // namespace tessera
