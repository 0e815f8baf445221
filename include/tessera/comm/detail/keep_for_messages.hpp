// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <tessera/agreement/detail/open_messages.hpp>
#include <tessera/comm/communicator.hpp>

namespace tessera::detail {

/// Keeps `memory` until the messages on `communicator` are complete that failing calls have left
/// under way since ever_left_open was `before`. Keeps it forever if the communicator was freed.
void keep_for_messages(const Communicator& communicator, std::uint64_t before,
                       const std::shared_ptr<void>& memory);

/// Runs body(). If it throws and leaves messages under way, keeps `memory()`, a
/// std::shared_ptr<void> to what these messages read and write, until they are complete.
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
