// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <fmt/format.h>

#include <tessera/error/error.hpp>

#include "debug/comm_records.hpp"

namespace tessera {
namespace {

constexpr int most_noise = 3;

struct Totals {
  std::int64_t count = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  double seconds = 0;
};

/// Holds what happened in a region outside its inner regions, its parameters, and the inner regions.
struct Node {
  std::map<std::string, DTensorSpec> parameters;
  std::map<std::string, Totals> communications;
  std::map<std::string, Totals> operators;
  std::vector<const CommRecord*> records;
  std::map<std::string, Node> inner;
};

bool is_operator(const CommRecord& record) {
  return record.kind == TraceKind::operation;
}

bool is_shown(const CommRecord& record, int noise_level) {
  if (is_operator(record)) return noise_level >= (record.is_trivial ? most_noise : 1);
  return record.kind == TraceKind::exchange || noise_level >= 2;
}

std::string operator_of(const CommRecord& record, int noise_level) {
  const bool has_region = noise_level >= 2 && !record.region.empty();
  return detail::call_of(record) + (has_region ? " in " + detail::path_of(record.region) : "");
}

std::string communication_of(const CommRecord& record) {
  if (record.kind == TraceKind::exchange) return record.operation + " over " + record.transport;
  return detail::kind_name(record) + " of " + record.operation;
}

Node& node_of(Node& root, const std::vector<std::string>& region) {
  auto* node = &root;
  for (const auto& name : region) node = &node->inner[name];
  return *node;
}

Node tree_of(const std::vector<CommRecord>& records, int noise_level) {
  Node root;
  for (const auto& record : records) {
    if (!is_shown(record, noise_level)) continue;
    auto& node = node_of(root, record.region);
    auto& totals = is_operator(record) ? node.operators[operator_of(record, noise_level)]
                                       : node.communications[communication_of(record)];
    ++totals.count;
    totals.bytes_sent += record.bytes_sent;
    totals.bytes_received += record.bytes_received;
    totals.seconds += record.seconds;
    node.records.push_back(&record);
  }
  return root;
}

std::int64_t count_of(const Node& node) {
  std::int64_t result = 0;
  for (const auto& [communication, totals] : node.communications) result += totals.count;
  for (const auto& [name, inner] : node.inner) result += count_of(inner);
  return result;
}

std::string line_of(const CommRecord& record) {
  if (is_operator(record))
    return fmt::format("{:.6f} s: {} of {} ranks, {:.6f} s: {}\n", record.start, record.operation,
                       record.group_size, record.seconds, operator_of(record, most_noise));
  return fmt::format(
      "{:.6f} s: {} of {} ranks, {} B sent, {} B received, {} B packed, {:.6f} s{}\n", record.start,
      record.operation, record.group_size, record.bytes_sent, record.bytes_received,
      record.bytes_packed, record.seconds,
      record.call.empty() ? "" : ": " + record.call + " on mesh " + record.mesh);
}

void append(std::string& text, const Node& node, int noise_level, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  for (const auto& [name, spec] : node.parameters)
    text += fmt::format("{}{}: {}\n", indent, name, to_string(spec));
  for (const auto& [communication, totals] : node.communications) {
    text += fmt::format("{}{} x {}", indent, totals.count, communication);
    if (noise_level > 0)
      text += fmt::format(": {} B sent, {} B received, {:.6f} s", totals.bytes_sent,
                          totals.bytes_received, totals.seconds);
    text += '\n';
  }
  for (const auto& [call, totals] : node.operators)
    text += fmt::format("{}{} x {}: {:.6f} s\n", indent, totals.count, call, totals.seconds);
  if (noise_level == most_noise)
    for (const auto* record : node.records) text += indent + "  " + line_of(*record);
  for (const auto& [name, inner] : node.inner) {
    text += fmt::format("{}{}: {}\n", indent, name, count_of(inner));
    append(text, inner, noise_level, depth + 1);
  }
}

}  // namespace

std::string CommDebugMode::table(int noise_level) const {
  require(0 <= noise_level && noise_level <= most_noise, [&] {
    return fmt::format("CommDebugMode::table: expected a noise level from 0 to {}, got {}",
                       most_noise, noise_level);
  });
  auto root = tree_of(records_, noise_level);
  if (noise_level > 0)
    for (const auto& [name, region, spec] : parameters_)
      node_of(root, region).parameters.insert_or_assign(name.substr(name.rfind('.') + 1), spec);
  auto text = fmt::format("all: {}\n", count_of(root));
  append(text, root, noise_level, 1);
  return text;
}

void CommDebugMode::write_table(std::ostream& out, int noise_level) const {
  out << table(noise_level) << std::flush;
}

void CommDebugMode::write_table(const std::filesystem::path& file, int noise_level) const {
  require<IoError>(detail::write(file, table(noise_level)), [&] {
    return fmt::format("CommDebugMode::write_table: expected a file to write to, got {}",
                       file.string());
  });
}

}  // namespace tessera
