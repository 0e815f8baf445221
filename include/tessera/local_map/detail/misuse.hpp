// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/error/detail/never.hpp>

// The function takes too few arguments, and stops the compiler with a sentence that says what to
// write.
namespace tessera {

template <class Function>
detail::Unusable local_map(const Function&) {
  static_assert(detail::never<Function>,
                "local_map: expected an output placement after func: placements such as "
                "{Shard(0)}, or none");
  return {};
}

}  // namespace tessera
