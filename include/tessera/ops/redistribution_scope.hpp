// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// A Redistribution says what operators may do with operands whose placements do not fit.
enum class Redistribution : std::uint8_t {
  any,  ///< They move whatever their rule needs, as PyTorch does. What moves is traced; the first of
        ///< equal calls is logged.
  local,  ///< They slice what is replicated, and reduce Partial operands where they are not linear.
  none,   ///< They take operands as they are.
};

/// Returns the name: "any", "local" or "none".
std::string to_string(Redistribution redistribution);

/// While a RedistributionScope lives, operators that this thread calls may do what it says. Scopes
/// nest; the innermost one counts. Without one it is Redistribution::local. What is an operator's
/// own algorithm, such as the exchange of argmax, happens under all of them.
///
/// Example: { RedistributionScope scope(Redistribution::any); z = x + y; }
class RedistributionScope {
 public:
  explicit RedistributionScope(Redistribution redistribution);
  ~RedistributionScope();
  RedistributionScope(const RedistributionScope&) = delete;
  RedistributionScope& operator=(const RedistributionScope&) = delete;

 private:
  Redistribution outer_;
};

namespace detail {

/// Returns what the innermost RedistributionScope of this thread says.
Redistribution current_redistribution();

}  // namespace detail
}  // namespace tessera
