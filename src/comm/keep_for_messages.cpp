// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/comm/detail/keep_for_messages.hpp>

#include "comm/communicator_state.hpp"

namespace tessera::detail {

void keep_for_messages(const Communicator& communicator, std::uint64_t before,
                       const std::shared_ptr<void>& memory) {
  if (communicator.is_freed())
    keep_for_ever(memory);
  else
    communicator.state().control->keep_memory(before, memory);
}

}  // namespace tessera::detail
