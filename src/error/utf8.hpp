// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For agreement, debug and picture: text of users in files that are UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// Returns `text` with each byte that is not part of UTF-8 as \xNN.
std::string as_utf8(std::string_view text);

}  // namespace tessera::detail
