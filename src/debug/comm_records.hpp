// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/debug/comm_debug_mode.hpp>

namespace tessera::detail {

/// As CommDebugMode::get_comm_counts() names it.
std::string kind_in_words(const CommRecord& record);

/// "solver/gemm"
std::string path_of(const std::vector<std::string>& region);

/// Whether it could be written.
bool write(const std::filesystem::path& file, const std::string& text);

}  // namespace tessera::detail
