// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/debug/comm_debug_mode.hpp>

namespace tessera::detail {

/// Returns the name of a record's kind, as in CommDebugMode::get_comm_counts().
std::string kind_name(const CommRecord& record);

/// Returns the call that a record belongs to, or the name of the operation if it belongs to none.
/// " (implicit)" follows the call of an operator that moved an operand implicitly.
std::string call_of(const CommRecord& record);

/// Joins the names of nested regions: "solver/gemm".
std::string path_of(const std::vector<std::string>& region);

/// Writes `text` to `file`, whose contents it replaces; returns false if that fails.
bool write(const std::filesystem::path& file, const std::string& text);

}  // namespace tessera::detail
