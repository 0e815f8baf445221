// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <tessera/agreement/detail/open_messages.hpp>
#include <tessera/comm/communicator.hpp>

namespace tessera::detail {

/// Keeps `memory` until the messages on `communicator` are complete that were left since the count
/// was `before`; for ever where it was freed.
void keep_for_messages(const Communicator& communicator, std::uint64_t before,
                       const std::shared_ptr<void>& memory);

/// Runs body(). Where it throws and leaves messages under way, what they read and write is kept
/// until they are complete: `memory()`, a std::shared_ptr<void>.
template <class Body, class Memory>
void keeping(const Communicator& communicator, const Body& body, const Memory& memory) {
  const auto before = ever_left_open;
  try {
    body();
  } catch (...) {
    if (ever_left_open != before) keep_for_messages(communicator, before, memory());
    throw;
  }
}

}  // namespace tessera::detail
