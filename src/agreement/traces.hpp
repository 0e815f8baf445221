// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/agreement/detail/statement.hpp>

namespace tessera::detail {

/// A message with data of a call under way.
struct DataMessage {
  int rank;
  bool is_sent;
};

/// What a call knows about its failure.
struct Failure {
  std::optional<Call> conflict = {};  ///< call that excludes this one
  bool has_joined = false;            ///< the other ranks have been told
  double since = 0;                   ///< seconds() then
  Standing standing = Standing::inside;
  Problem problem = {};
  Call call = {};
};

/// What others may know of a call, or it of them. One that needed no message mostly has none.
struct Traces {
  std::vector<DataMessage> messages;
  std::optional<Failure> failure;
  std::uint64_t detached_as = 0;  ///< number of a call in the background; 0 if it never was
};

}  // namespace tessera::detail
