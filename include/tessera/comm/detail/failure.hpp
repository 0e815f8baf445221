// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/comm/detail/statement.hpp>
#include <tessera/comm/operation.hpp>

namespace tessera {

/// What a call knows about its failure.
struct Operation::Failure {
  std::optional<detail::Call> conflict = {};  ///< call that excludes this one
  bool has_joined = false;                    ///< the other ranks have been told
  detail::Standing standing = detail::Standing::inside;
  detail::Problem problem = {};
  detail::Call call = {};
};

}  // namespace tessera
