// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tessera/agreement/detail/wait.hpp>
#include <tessera/error/error.hpp>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"
#include "mpi/check.hpp"
#include "mpi/clock.hpp"

namespace tessera::detail {
namespace {

constexpr double longest_interval_seconds = 5;

}  // namespace

Watch::Watch(Control& control)
    : control_(control),
      backoff_(control.is_oversubscribed),
      query_interval_(control.options.patience) {}

void Watch::come_back() {
  const double away = seconds() - last_look_;
  if (start_ == 0) return;
  const double shift = std::max(0.0, away - control_.options.patience);
  start_ += shift;
  time_out_from_ += shift;
}

Watch::Action Watch::next_action() {
  const double now = seconds();
  last_look_ = now;
  if (start_ == 0) {
    start_ = time_out_from_ = now;
    next_query_ = now + control_.options.patience;
  }
  // Calls on other communicators may be under way, in the background or around this one.
  advance_all();
  // While one of this communicator moves, this one may merely stand behind it.
  if (std::exchange(seen_turns_, control_.turns) != control_.turns) time_out_from_ = now;
  if (now - time_out_from_ > control_.options.timeout) return Action::time_out;
  if (now - start_ < control_.options.patience) return Action::go_on;
  Control::poll_all();
  if (Control::must_give_up()) return Action::give_up;
  if (!control_.is_listening()) return Action::go_on;
  if (now < next_query_ || control_.innermost() == nullptr) return Action::go_on;
  query_interval_ = std::min(2 * query_interval_, longest_interval_seconds);
  next_query_ = now + query_interval_;
  return Action::query;
}

void Watch::query(const std::vector<int>& ranks) {
  control_.query(*control_.innermost(), ranks);
}

void Watch::give_up(bool has_timed_out) {
  if (!has_timed_out) Control::give_up();
  auto* const call = control_.innermost();
  if (call != nullptr && control_.is_listening()) Control::time_out(*call);
  const auto* name = call == nullptr ? "tessera" : call->name();
  throw Timeout(fmt::format("{}: waited {:g} s for other ranks", name, control_.options.timeout));
}

void wait_yielding(MPI_Request& request) {
  Backoff backoff(true);
  for (unsigned turns = 1;; ++turns) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) return;
    backoff.pause();
    if (turns % Watch::turns_between_looks != 0) continue;
    // Others may first wait for a call in the background, or for an answer.
    advance_all();
    Control::poll_all();
  }
}

bool drain(std::span<MPI_Request> requests, double at_most) noexcept {
  Backoff backoff(true);
  double end = 0;
  for (auto& request : requests)
    for (int done = 0; !done;) {
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      if (done) break;
      if (end == 0) end = seconds() + at_most;
      if (seconds() >= end) return false;
      backoff.pause();
    }
  return true;
}

}  // namespace tessera::detail
