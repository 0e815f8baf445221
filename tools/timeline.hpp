// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::tools {

/// A Bar is a communication of one rank, an operator that it called, or a region around these.
struct Bar {
  std::string name;
  std::string category;  ///< "redistribute", "collective", …, "operator", "region"
  std::int64_t rank = 0;
  int depth = 0;  ///< nesting level of a region: number of regions around it
  double start = 0;
  double seconds = 0;
  std::int64_t bytes_received = 0;

  bool is_region() const { return category == "region"; }
  bool is_operator() const { return category == "operator"; }
};

/// Reads the bars of a file that CommDebugMode::write_chrome_trace wrote, in the order of the file;
/// time counts from the start of the earliest one. Errors: IoError that names the file.
std::vector<Bar> read_trace(const std::filesystem::path& file);

/// Returns a table with one row per rank: communications, bytes received, time in ms.
std::string summary_of(const std::vector<Bar>& bars);

/// Draws one row per rank, with regions above the communications in them and operators behind
/// their communications.
std::string timeline_svg(const std::vector<Bar>& bars);

}  // namespace tessera::tools
