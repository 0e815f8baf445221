// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>

namespace tessera::detail {

/// Returns the text of position 0 on every rank. Collective over the group; a second message carries
/// a text that is not empty.
std::string text_of_first(const Group& group, std::string text, TraceKind kind,
                          const char* operation);

/// Throws IoError with the text of position 0 on every rank, unless that text is empty. Collective
/// over the group.
void throw_error_of_first(const Group& group, std::string error, const char* operation);

/// Returns the text of the error that `action` throws; empty if it throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tessera::detail
