// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For io and debug: what went wrong on one rank is thrown on all.
#pragma once

#include <exception>
#include <string>

#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>

namespace tessera {

/// Holds what went wrong on a rank; an empty text if nothing did. It is thrown as IoError or as
/// MpiError.
struct SharedError {
  std::string text;
  bool is_of_mpi = false;

  friend bool operator==(const SharedError&, const SharedError&) = default;
};

/// Returns the error that `action` throws; an empty one if it throws none.
template <class Action>
SharedError error_of(Action&& action) {
  try {
    action();
    return {};
  } catch (const MpiError& error) {
    return {error.what(), true};
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

/// Returns the error that all ranks of the group are to throw; an empty one if no rank has any.
///
/// It is that of the lowest position that has an error, its text followed by the positions that
/// failed unless all did: "… (on ranks 1, 3)". Collective over the group: one all_gather, and a
/// broadcast if something went wrong.
SharedError agree_on_error(const Group& group, const SharedError& mine, const char* operation);

/// Throws what agree_on_error() returns on every rank, if something went wrong on one of them.
void throw_together(const Group& group, const SharedError& mine, const char* operation,
                    const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace tessera
