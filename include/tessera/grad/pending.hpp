// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include <tessera/grad/variable.hpp>
#include <tessera/redistribute/pending.hpp>

namespace tessera::grad {

/// A PendingVariable is the result of a call with a variable that goes on in the background, see
/// Pending. The call is recorded by wait(), not when it starts. Not copyable.
template <class T>
class PendingVariable {
 public:
  using Record = std::function<BasicVariable<T>(const T&)>;

  /// Takes a call that was started, and what makes a variable of its result; the functions whose
  /// names end in _async make it.
  PendingVariable(Pending<T> pending, Record record)
      : pending_(std::move(pending)), record_(std::move(record)) {}

  /// Returns whether the result is complete. Local. Errors: those of Pending::wait().
  bool test() { return pending_.test(); }

  /// Waits for the result, and records the call. Collective: over the ranks that started the call.
  /// Errors: those of Pending::wait(); InvalidArgument if a backward pass has run meanwhile.
  BasicVariable<T> wait() { return record_(pending_.wait()); }

 private:
  Pending<T> pending_;
  Record record_;
};

}  // namespace tessera::grad
