// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <optional>

#include <mpi.h>

#include "comm/limit_scope.hpp"
#include "node/nodes.hpp"

namespace tessera::test {

/// Limits the length of messages on the communicator of MPI_COMM_WORLD while the result lives, if
/// the variable TESSERA_TEST_MESSAGE_LIMIT (bytes) is set: longer messages travel in several parts.
///
/// Collective over MPI_COMM_WORLD if the variable is set.
inline std::optional<detail::LimitScope> limit_of_messages() {
  const char* const bytes = std::getenv("TESSERA_TEST_MESSAGE_LIMIT");
  if (bytes == nullptr) return std::nullopt;
  return std::optional<detail::LimitScope>(
      std::in_place, detail::communicator_on_nodes(MPI_COMM_WORLD), std::atoll(bytes));
}

}  // namespace tessera::test
