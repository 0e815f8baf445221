// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tessera/error/error.hpp>

#include "report.hpp"
#include "timeline.hpp"

namespace tessera::tools {
namespace {

constexpr double microsecond = 1e-6;

bool is_within(const Bar& bar, const Bar& region) {
  constexpr double rounding = 3e-9;
  return bar.start >= region.start - rounding &&
         bar.start + bar.seconds <= region.start + region.seconds + rounding;
}

Bar bar_of(const nlohmann::json& event) {
  Bar bar;
  bar.name = event.at("name");
  bar.category = event.value("cat", "");
  bar.rank = event.at("tid");
  bar.start = event.at("ts").get<double>() * microsecond;
  bar.seconds = event.at("dur").get<double>() * microsecond;
  bar.bytes_received = event.value("/args/bytes_received"_json_pointer, std::int64_t{0});
  return bar;
}

std::vector<Bar> bars_of(const nlohmann::json& trace) {
  std::vector<Bar> bars;
  std::map<std::int64_t, std::vector<Bar>> regions;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    auto bar = bar_of(event);
    if (bar.is_region()) {
      // Regions come in the order in which they start, outer ones first.
      auto& open = regions[bar.rank];
      while (!open.empty() && !is_within(bar, open.back())) open.pop_back();
      bar.depth = static_cast<int>(open.size());
      open.push_back(bar);
    }
    bars.push_back(bar);
  }
  return bars;
}

}  // namespace

std::vector<Bar> read_trace(const std::filesystem::path& file) {
  std::ifstream in(file);
  require<IoError>(in.good(), [&] {
    return fmt::format("'{}': expected a file that can be read", file.string());
  });
  const auto require_trace = [&](bool is_trace) {
    require<IoError>(is_trace, [&] {
      return fmt::format("'{}': expected a trace as CommDebugMode::write_chrome_trace writes it",
                         file.string());
    });
  };
  std::vector<Bar> bars;
  try {
    bars = bars_of(nlohmann::json::parse(in));
  } catch (const nlohmann::json::exception&) {
    require_trace(false);
  }
  require_trace(std::ranges::all_of(bars, [](const Bar& bar) { return bar.seconds >= 0; }));
  require<IoError>(!bars.empty(), [&] {
    return fmt::format("'{}': expected a trace with communications, got none", file.string());
  });
  const auto first = std::ranges::min_element(bars, {}, &Bar::start)->start;
  for (auto& bar : bars) bar.start -= first;
  return bars;
}

std::string summary_of(const std::vector<Bar>& bars) {
  struct Sum {
    int communications = 0;
    std::int64_t bytes_received = 0;
    double seconds = 0;
  };
  std::map<std::int64_t, Sum> by_rank;
  for (const auto& bar : bars) {
    auto& sum = by_rank[bar.rank];
    if (bar.is_region() || bar.is_operator()) continue;
    ++sum.communications;
    sum.bytes_received += bar.bytes_received;
    sum.seconds += bar.seconds;
  }
  std::vector<std::vector<std::string>> rows = {
      {"rank", "communications", "bytes received", "ms in them"}};
  for (const auto& [rank, sum] : by_rank)
    rows.push_back({std::to_string(rank), std::to_string(sum.communications),
                    std::to_string(sum.bytes_received), fmt::format("{:.3f}", sum.seconds * 1e3)});
  return table(rows);
}

}  // namespace tessera::tools
