// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace tessera {

/// Progress says how far an operation that takes seconds has come on this rank.
struct Progress {
  const char* operation;  ///< name with static storage: "tessera::redistribute", …
  std::int64_t bytes;     ///< size of the whole operation on this rank, bytes
  double fraction;        ///< part of `bytes` that is done, over all steps, 0 to 1
};

/// A ProgressObserver is what a ProgressScope calls.
using ProgressObserver = std::function<void(const Progress&)>;

/// Installs `observer` for operations of this thread, and restores the previous one when destroyed.
///
/// Scopes nest: only the innermost observer is called. It is called at the end of each operation of
/// at least `least_bytes` bytes, with fraction 1, and before that at most every tenth of a second. An
/// operation that moves nothing is not reported.
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

/// Reports one operation to the observer, if there is one and the operation is large enough.
class ProgressMeter {
 public:
  /// Reports to the innermost scope of this thread. `operation` has static storage; `bytes` is the
  /// size of the whole operation on this rank.
  ProgressMeter(const char* operation, std::int64_t bytes);
  /// Returns whether this thread has an observer.
  static bool is_wanted();
  /// Returns whether an observer listens to this operation; if not, nothing need be counted.
  bool is_on() const { return !listener_.expired(); }
  /// Reports that `bytes` bytes are done in total.
  void reach(std::int64_t bytes);
  /// Reports that the operation is complete. Later calls do nothing.
  void finish();

 private:
  std::weak_ptr<const ProgressScope::Listener> listener_;  ///< a call may outlive the scope
  Progress progress_;
  double next_ = 0;  ///< earliest time of the next report, detail::seconds()
};

/// Returns an observer that draws a bar on stderr if that is a terminal, and otherwise prints a
/// line for each tenth. It prints only on rank 0 of MPI_COMM_WORLD.
ProgressObserver progress_bar();

}  // namespace tessera
