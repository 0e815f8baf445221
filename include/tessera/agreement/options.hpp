// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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
  /// Seconds after which a rank that waits for another one throws Timeout, 0.001 or more: ranks look
  /// at the clock now and then only.
  double timeout = 300;
  /// Seconds after which a rank that waits asks others what they do, 1e-6 or more.
  double patience = 0.1;
};

namespace detail {
inline constexpr double least_timeout = 1e-3;
inline constexpr double least_patience = 1e-6;
}  // namespace detail

}  // namespace tessera
