// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Writes the records as JSON, and the traces of all ranks in the format of chrome://tracing and
// Perfetto.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/error/error.hpp>
#include <tessera/mesh/device_mesh.hpp>

#include "comm/agree_on_error.hpp"
#include "comm/exchange.hpp"
#include "debug/comm_records.hpp"
#include "error/json.hpp"

namespace tessera {
namespace {

using detail::json_quoted;

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> result;
  for (const auto& text : texts) result.push_back(json_quoted(text));
  return fmt::format("[{}]", fmt::join(result, ","));
}

std::string numbers_of(const CommRecord& record) {
  return fmt::format(
      R"("group_size":{},"bytes_sent":{},"bytes_received":{},"bytes_packed":{},)"
      R"("messages_sent":{},"messages_received":{},"transport":{},"call":{},"mesh":{},)"
      R"("implicit":{},"trivial":{})",
      record.group_size, record.bytes_sent, record.bytes_received, record.bytes_packed,
      record.messages_sent, record.messages_received, json_quoted(record.transport),
      json_quoted(record.call), json_quoted(record.mesh), record.is_implicit, record.is_trivial);
}

std::string to_json(const CommRecord& record) {
  return fmt::format(
      R"({{"kind":{},"operation":{},"region":{},"start":{:.9f},"seconds":{:.9f},{}}})",
      json_quoted(detail::kind_name(record)), json_quoted(record.operation),
      quoted_list(record.region), record.start, record.seconds, numbers_of(record));
}

constexpr double microseconds = 1e6;

/// Formats one bar in the row of `rank`; `start` and `seconds` are in seconds.
std::string bar(const std::string& name, const std::string& category, int rank, double start,
                double seconds, const std::string& numbers) {
  return fmt::format(
      R"({{"name":{},"cat":{},"ph":"X","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})",
      json_quoted(name), json_quoted(category), rank, start * microseconds, seconds * microseconds,
      numbers);
}

/// Adds the bars of regions: for each region, at each nesting level, one bar around every run of
/// consecutive records in it. The first record of a run need not be the first that started: an
/// operator follows its communications.
void add_region_bars(std::vector<std::string>& bars, const std::vector<CommRecord>& records,
                     int rank, double shift) {
  const auto is_within = [](const CommRecord& record, const std::vector<std::string>& region) {
    return record.region.size() >= region.size() &&
           std::equal(region.begin(), region.end(), record.region.begin());
  };
  for (std::size_t i = 0; i < records.size(); ++i)
    for (std::size_t depth = 1; depth <= records[i].region.size(); ++depth) {
      const std::vector<std::string> region(
          records[i].region.begin(),
          records[i].region.begin() + static_cast<std::ptrdiff_t>(depth));
      if (i > 0 && is_within(records[i - 1], region)) continue;
      auto start = records[i].start;
      auto last = i;
      for (; last + 1 < records.size() && is_within(records[last + 1], region); ++last)
        start = std::min(start, records[last + 1].start);
      const auto end = records[last].start + records[last].seconds;
      bars.push_back(bar(region.back(), "region", rank, start + shift, end - start, ""));
    }
}

std::string bars_of(const std::vector<CommRecord>& records, int rank, double shift) {
  std::vector<std::string> bars{fmt::format(
      R"({{"name":"thread_name","ph":"M","pid":0,"tid":{0},"args":{{"name":"rank {0}"}}}})", rank)};
  add_region_bars(bars, records, rank, shift);
  for (const auto& record : records)
    bars.push_back(bar(record.operation, detail::kind_name(record), rank, record.start + shift,
                       record.seconds, numbers_of(record)));
  return fmt::format("{}", fmt::join(bars, ",\n"));
}

/// Gathers the rows of all ranks on the first rank of the group; every other rank gets its own row.
/// Collective over the group.
std::vector<std::vector<std::byte>> gathered(const Group& group, const std::string& row,
                                             const char* operation) {
  const auto sizes = all_gather_value(group, std::ssize(row), TraceKind::metadata, operation);
  const auto mine = std::as_bytes(std::span(row));
  auto rows = std::make_shared<std::vector<std::vector<std::byte>>>(1);
  rows->front().assign(mine.begin(), mine.end());
  const auto exchange_rows = [&] {
    Exchange exchange(group.communicator, TraceKind::metadata, operation, group.size());
    if (group.position > 0) {
      exchange.send(rows->front().data(), std::ssize(mine), group.ranks.front());
    } else {
      rows->resize(sizes.size());
      for (std::size_t i = 1; i < rows->size(); ++i) {
        auto& other = (*rows)[i];
        other.resize(static_cast<std::size_t>(sizes[i]));
        exchange.receive(other.data(), sizes[i], group.ranks[i]);
      }
    }
    exchange.finish();
  };
  detail::keeping(group.communicator, exchange_rows, [&] { return rows; });
  return std::move(*rows);
}

std::string merged(const std::vector<std::vector<std::byte>>& rows) {
  std::string text = "{\"traceEvents\":[\n";
  for (const auto& row : rows) {
    if (&row != &rows.front()) text += ",\n";
    text.append(reinterpret_cast<const char*>(row.data()), row.size());
  }
  return text + "\n],\"displayTimeUnit\":\"ms\"}\n";
}

}  // namespace

std::string CommDebugMode::json() const {
  std::vector<std::string> counts;
  for (const auto& [kind, count] : get_comm_counts())
    counts.push_back(fmt::format("{}:{}", json_quoted(kind), count));
  std::vector<std::string> records;
  for (const auto& record : records_) records.push_back(to_json(record));
  std::vector<std::string> parameters;
  for (const auto& [name, spec] : get_parameter_info())
    parameters.push_back(fmt::format(R"({}:{{"shape":[{}],"placements":{}}})", json_quoted(name),
                                     fmt::join(spec.shape(), ","),
                                     json_quoted(to_string(spec.placements()))));
  return fmt::format(
      "{{\"total\":{},\"counts\":{{{}}},\"parameters\":{{{}}},\"records\":[\n{}\n]}}\n",
      get_total_counts(), fmt::join(counts, ","), fmt::join(parameters, ","),
      fmt::join(records, ",\n"));
}

void CommDebugMode::write_json(const std::filesystem::path& file) const {
  require<IoError>(detail::write(file, json()), [&] {
    return fmt::format("CommDebugMode::write_json: expected a file to write to, got {}",
                       file.string());
  });
}

void CommDebugMode::write_chrome_trace(const DeviceMesh& mesh,
                                       const std::filesystem::path& file) const {
  if (mesh.is_null() || !mesh.coordinate()) return;
  constexpr auto operation = "tessera::CommDebugMode::write_chrome_trace";
  const Group group{mesh.communicator(), mesh.layout().ranks(), mesh.rank()};
  const auto records = records_;  // copied first: leaves out the records of this call
  collectively(mesh, "CommDebugMode::write_chrome_trace", [&](Operation& call) {
    call.agree_always(0, [] { return std::string("CommDebugMode::write_chrome_trace"); });
    const auto starts = all_gather_value(group, begin_epoch_, TraceKind::metadata, operation);
    const auto first = *std::ranges::min_element(starts);
    const auto row = bars_of(records, mesh.rank(), begin_epoch_ - first);
    const auto rows = gathered(group, row, operation);
    std::string error;
    if (mesh.rank() == 0 && !detail::write(file, merged(rows)))
      error = fmt::format("CommDebugMode::write_chrome_trace: expected a file to write to, got {}",
                          file.string());
    throw_together(group, {error}, operation);
  });
}

}  // namespace tessera
