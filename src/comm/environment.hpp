// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For node: environment variables that count as rank 0 has them.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/comm/collectives.hpp>

namespace tessera::detail {

/// Names what a new communicator exchanges in trace events.
inline constexpr auto setup_operation = "tessera::Communicator::duplicate_of";

/// An environment variable as position 0 sees it, on every rank: it may differ between ranks. ""
/// where it is not set. Collective over the group.
std::string variable_of_first(const Group& group, const char* name);

/// What a variable says. Errors: InvalidArgument for what is no number of bytes, 0 or more.
std::int64_t parse_bytes(const char* name, const std::string& text);

/// Fills in what TESSERA_AGREEMENT, TESSERA_TIMEOUT and TESSERA_PATIENCE say. Collective over the
/// duplicate.
///
/// Errors: InvalidArgument for what is no level or no number above 0, on every rank.
void learn_agreement(const Communicator& communicator);

}  // namespace tessera::detail
