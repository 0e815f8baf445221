// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator_state.hpp"
#include "comm/limit_scope.hpp"

namespace tessera::detail {

LimitScope::LimitScope(const Communicator& communicator, std::int64_t bytes)
    : communicator_(communicator),
      message_limit_(std::exchange(communicator_.state().message_limit, bytes)),
      io_limit_(std::exchange(communicator_.state().io_limit, bytes)) {}

LimitScope::~LimitScope() {
  if (communicator_.is_freed()) return;
  communicator_.state().message_limit = message_limit_;
  communicator_.state().io_limit = io_limit_;
}

}  // namespace tessera::detail
