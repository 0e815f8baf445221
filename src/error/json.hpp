// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For agreement and debug: text in JSON.
#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// Returns `text` as a JSON string, with its quotes; bytes that are no UTF-8 as \xNN.
std::string json_quoted(std::string_view text);

}  // namespace tessera::detail
