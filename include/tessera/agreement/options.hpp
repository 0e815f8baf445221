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
  double timeout = 300;   ///< seconds after which a rank that waits for another one throws Timeout
  double patience = 0.1;  ///< seconds after which a rank that waits asks others what they do
};

}  // namespace tessera
