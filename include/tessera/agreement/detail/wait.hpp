// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include <tessera/agreement/detail/backoff.hpp>

namespace tessera::detail {

class Control;

/// What a loop that waits for other ranks does between two looks: it spins, then yields. Later it
/// looks at the control channel and tells the ranks that it waits for, so that one that does
/// something else is found; after the time limit it gives up.
class Watch {
 public:
  static constexpr unsigned turns_between_looks = 8;

  explicit Watch(Control& control);

  /// One turn. `awaited()` lists the ranks waited for; `abandon()` is called before an exception
  /// leaves. Throws Doomed where the call is given up, Timeout outside of calls and at
  /// Agreement::none.
  template <class Awaited, class Abandon>
  void pause(const Awaited& awaited, const Abandon& abandon) {
    if (backoff_.pause() && ++turns_ % turns_between_looks == 0) look(awaited, abandon);
  }

  /// What pause() does at some of its turns, for callers that do other things between tests.
  template <class Awaited, class Abandon>
  void look(const Awaited& awaited, const Abandon& abandon) {
    const auto action = next_action();
    if (action == Action::query) query(awaited());
    if (action == Action::give_up || action == Action::time_out) {
      abandon();
      give_up(action == Action::time_out);
    }
  }

  /// Something has arrived: the time begins anew.
  void restart() {
    start_ = 0;
    backoff_.restart();
  }
  /// The caller has done something else since the last look: only the patience counts as waiting, so
  /// that whoever looks rarely gives up late, but does.
  void come_back();

 private:
  enum class Action { go_on, query, give_up, time_out };

  Action next_action();
  void query(const std::vector<int>& ranks);
  [[noreturn]] void give_up(bool has_timed_out);

  Control& control_;
  Backoff backoff_;
  unsigned turns_ = 0;
  double start_ = 0;
  double time_out_from_ = 0;
  std::uint64_t seen_turns_ = 0;  ///< Control::turns
  double last_look_ = 0;
  double next_query_ = 0;
  double query_interval_;
};

/// Completes a request, by tests with pauses between them, in which calls in the background move on
/// and ranks that ask are answered: never blocks inside MPI, where it could not yield. Errors:
/// MpiError.
void wait_yielding(MPI_Request& request);

/// Completes requests without throwing, for `at_most` seconds. Returns whether all are complete,
/// failed ones included.
bool drain(std::span<MPI_Request> requests, double at_most) noexcept;

}  // namespace tessera::detail
