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

/// What went wrong on a rank of the group, for all to throw alike; nullopt if nothing did.
///
/// The text is that of the lowest position with one, followed by the positions that failed unless
/// all did: "… (on ranks 1, 3)". `mine` is empty where all went well. Collective over the group:
/// one all_gather, and a broadcast if something went wrong.
std::optional<std::string> agree_on_error(const Group& group, const std::string& mine,
                                          const char* operation);

/// Throws E on every rank if something went wrong on one of them, see agree_on_error.
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
