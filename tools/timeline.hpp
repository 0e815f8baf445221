// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::tools {

/// A communication of one rank, or a region around some.
struct Bar {
  std::string name;
  std::string category;  ///< "redistribute", "collective", …, "region"
  std::int64_t rank = 0;
  int depth = 0;  ///< of a region: how many are around it
  double start = 0;
  double seconds = 0;
  std::int64_t bytes_received = 0;
};

/// The bars of a file of CommDebugMode::write_chrome_trace, as they stand in it; time counts from
/// the first. Errors: IoError that names the file.
std::vector<Bar> read_trace(const std::filesystem::path& file);

/// By rank: communications, bytes, time.
std::string summary_of(const std::vector<Bar>& bars);

/// One row per rank, regions above the communications in them.
std::string timeline_svg(const std::vector<Bar>& bars);

}  // namespace tessera::tools
