// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::detail {

/// One collective call: the n-th on a group of ranks.
struct OperationId {
  std::uint64_t group = 0;  ///< key of the group's OperationLog
  std::uint64_t sequence = 0;

  friend auto operator<=>(const OperationId&, const OperationId&) = default;
  // The one above implies it; nvcc 13 does not emit it then.
  friend bool operator==(const OperationId&, const OperationId&) = default;
};

/// The types of exceptions that travel; `other` is one that Tessera did not throw.
enum class ErrorKind : std::uint8_t {
  none,
  error,
  invalid_argument,
  placement_mismatch,
  mesh_mismatch,
  mpi_error,
  io_error,
  timeout,
  other,
};

/// What went wrong on one rank.
struct Problem {
  ErrorKind kind = ErrorKind::none;
  std::string text;
};

/// Where a rank stands towards a call that fails.
enum class Standing : std::uint8_t {
  inside,     ///< called it, and cannot complete it, perhaps for a problem of its own
  leaving,    ///< the same; what the problem is follows
  elsewhere,  ///< has not called it, and is in another call
  completed,  ///< has left it, with success
  abandoned,  ///< left it because a call around it failed: nobody will come to it
};

/// What a rank is in, as others see it.
struct Call {
  OperationId id;
  std::uint64_t fingerprint = 0;
  std::string name;        ///< "redistribute"
  std::string text;        ///< with its arguments
  std::string group_name;  ///< "(dp=2, tp=4)"
  std::vector<int> group;  ///< ranks of the communicator
};

/// What a rank tells another one about a call that fails: all that the others need to throw what it
/// throws, and to find the messages that it has sent them.
struct Statement {
  OperationId about;
  Standing standing = Standing::inside;
  Call call;  ///< of the sender: the one this is about, or where it is instead
  Problem problem = {};
  OperationId conflict = {};   ///< call of another rank that excludes this one; all zero if none.
                               ///< Of a sender elsewhere: `about` if it will not come to that
  OperationId same_call = {};  ///< of a sender that completed another call under this number: its
                               ///< later one that is the receiver's; all zero if none
  std::int32_t tag = 0;        ///< of the messages with data
  std::int32_t messages = 0;   ///< sent to the receiver under `tag`
};

std::vector<std::byte> to_bytes(const Statement& statement);
Statement statement_from(std::span<const std::byte> bytes);

}  // namespace tessera::detail
