// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For io and debug: what went wrong on one rank is thrown on all.
#pragma once

#include <concepts>
#include <optional>
#include <string>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>

namespace tessera {

/// Returns the error that all ranks of the group are to throw; nullopt if no rank has one.
///
/// The text is that of the lowest position that has an error, followed by the positions that failed
/// unless all did: "… (on ranks 1, 3)". `mine` is empty if nothing went wrong on this rank.
/// Collective over the group: one all_gather, and a broadcast if something went wrong.
std::optional<std::string> agree_on_error(const Group& group, const std::string& mine,
                                          const char* operation);

/// Throws E on every rank, with the text of agree_on_error, if something went wrong on one of them.
template <std::derived_from<Error> E>
void throw_together(const Group& group, const std::string& mine, const char* operation,
                    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const auto error = agree_on_error(group, mine, operation);
  detail::common([&] {
    require<E>(
        !error, [&] { return *error; }, file, line);
  });
}

}  // namespace tessera
