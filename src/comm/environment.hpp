// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For node: environment variables of which the value on rank 0 counts.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/comm/collectives.hpp>

namespace tessera::detail {

/// Names the set-up of a new communicator in trace events.
inline constexpr auto setup_operation = "tessera::Communicator::duplicate_of";

/// Returns what TESSERA_TIMEOUT says on this rank, seconds, or the default where it says nothing
/// valid: for waits before the ranks have read what rank 0 has.
double own_time_limit();

/// Returns an environment variable as position 0 has it, on every rank, because it may differ
/// between ranks; "" if it is not set there. Collective over the group.
std::string variable_of_first(const Group& group, const char* name);

/// Returns the number of bytes that `text`, the value of variable `name`, says. Errors:
/// InvalidArgument unless it is an integer, 0 or more.
std::int64_t parse_bytes(const char* name, const std::string& text);

/// Sets the agreement options that TESSERA_AGREEMENT, TESSERA_TIMEOUT and TESSERA_PATIENCE give.
/// Collective over the duplicate.
///
/// Errors: InvalidArgument for a value that is no level or no number above 0, on every rank.
void read_agreement_options(const Communicator& communicator);

}  // namespace tessera::detail
