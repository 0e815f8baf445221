// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace tessera {

/// How far an operation that takes seconds has come on this rank.
struct Progress {
  const char* operation;  ///< "tessera::redistribute", …: static storage
  std::int64_t bytes;     ///< of the whole operation, on this rank
  double fraction;        ///< of them that are done, from 0 to 1, over all its steps
};

/// What a ProgressScope calls.
using ProgressObserver = std::function<void(const Progress&)>;

/// Installs `observer` for operations of this thread, and puts the previous one back when
/// destroyed.
/// Nests: the innermost one is told. It is told at the end (1) of each operation of at least
/// `least_bytes`, and before at most every tenth of a second.
class ProgressScope {
 public:
  explicit ProgressScope(ProgressObserver observer,
                         std::int64_t least_bytes = std::int64_t{1} << 30);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  friend class ProgressMeter;

  struct Listener {
    ProgressObserver observer;
    std::int64_t least_bytes;
  };

  std::shared_ptr<const Listener> listener_;
  ProgressScope* outer_;
};

/// Reports one operation to the observer, where there is one and the operation is large enough.
class ProgressMeter {
 public:
  /// For the innermost scope of this thread. `operation` has static storage; `bytes`: of the whole
  /// operation, on this rank.
  ProgressMeter(const char* operation, std::int64_t bytes);
  /// This thread has an observer.
  static bool is_wanted();
  /// Somebody listens: otherwise nothing need be counted.
  bool is_on() const { return !listener_.expired(); }
  /// `bytes` are done in all.
  void reach(std::int64_t bytes);
  /// All is done. Later calls do nothing.
  void finish();

 private:
  std::weak_ptr<const ProgressScope::Listener> listener_;  ///< a call may outlive the scope
  Progress progress_;
  double next_ = 0;  ///< detail::seconds() of the next report
};

/// An observer that draws a bar on stderr if that is a terminal, else prints a line for each tenth;
/// on rank 0 of MPI_COMM_WORLD alone.
ProgressObserver progress_bar();

}  // namespace tessera
