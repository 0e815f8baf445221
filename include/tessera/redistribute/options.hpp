// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera {

/// How a redistribution may be done. The same on every rank.
struct RedistributeOptions {
  /// Reductions may combine terms in any order; by default one fixed tree gives the same bits
  /// everywhere. A permission: today the fixed tree is used all the same.
  bool fast_reductions = false;

  friend constexpr bool operator==(const RedistributeOptions&,
                                   const RedistributeOptions&) = default;
};

}  // namespace tessera
