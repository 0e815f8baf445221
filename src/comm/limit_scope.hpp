// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/comm/communicator.hpp>

namespace tessera::detail {

/// Lowers both limits of a communicator while it lives, the same on all its ranks: how tests reach
/// the code for huge data.
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
