// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/comm/communicator.hpp>

namespace tessera::detail {

/// Lowers the limits of messages and of file accesses of a communicator while it lives, so that
/// tests reach the code for huge data. All ranks of the communicator make it with the same `bytes`.
class LimitScope {
 public:
  LimitScope(const Communicator& communicator, std::int64_t bytes);
  ~LimitScope();
  LimitScope(const LimitScope&) = delete;
  LimitScope& operator=(const LimitScope&) = delete;

 private:
  Communicator communicator_;
  std::int64_t message_limit_;
  std::int64_t io_limit_;
};

}  // namespace tessera::detail
