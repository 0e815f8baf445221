// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include <tessera/comm/collectives.hpp>
#include <tessera/comm/operation.hpp>
#include <tessera/error/error.hpp>

namespace tessera {

/// When ranks compare what they call.
enum class Agreement : std::uint8_t {
  none,    ///< never: a mistake of one rank may give wrong values, or end in a Timeout
  plan,    ///< when it is new to them; later what they call is in the tags of the messages
  always,  ///< at every call
};

/// How ranks check that they call the same, and how long they wait for one another, on all meshes
/// of a communicator. See set_agreement().
struct AgreementOptions {
  Agreement level = Agreement::plan;
  double timeout = 300;   ///< seconds after which a rank that waits for another one throws Timeout
  double patience = 0.1;  ///< seconds after which a rank that waits asks others what they do
};

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

namespace detail {

/// " (on ranks 1, 3)": the positions that failed, "" if that is the whole group.
std::string on_ranks(const std::vector<int>& positions, std::size_t group_size);

}  // namespace detail
}  // namespace tessera
