// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <tessera/comm/collectives.hpp>

namespace tessera::detail {

/// Checks that the kernel gets the whole path. Errors: InvalidArgument.
void require_path(const std::string& path);

/// Returns the text of position 0 on every rank. Collective over the group; a second message carries
/// a text that is not empty.
std::string text_of_first(const Group& group, std::string text, TraceKind kind,
                          const char* operation);

/// Throws IoError with the text of position 0 on every rank, unless that text is empty. Collective
/// over the group.
void throw_error_of_first(const Group& group, std::string error, const char* operation);

}  // namespace tessera::detail
