// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/error/error.hpp>
#include <tessera/mpi/detail/runtime.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/redistribute/pending.hpp>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"
#include "comm/communicator_state.hpp"
#include "mpi/clock.hpp"
#include "redistribute/executor.hpp"

namespace tessera::detail {

PendingCall::PendingCall(const DeviceMesh& mesh, OperationLog* calls, FunctionName function)
    : mesh_(mesh) {
  operation_.emplace(calls, function);
}

PendingCall::~PendingCall() {
  if (!operation_) return;
  const bool can_end = comm::is_usable() && !mesh_.communicator().is_freed() &&
                       Kokkos::is_initialized() && !Kokkos::is_finalized();
  try {
    if (can_end) wait();
  } catch (...) {
    // A caller who wants to know of the exception calls wait().
  }
  if (can_end || !run_) return;
  keep_for_ever(views_);
  keep_for_ever(scratch_);
}

void PendingCall::begin(std::optional<PendingWork> work) {
  if (!work) {
    if (operation_->is_doomed()) throw Doomed();
    return operation_.reset();
  }
  work_ = std::move(work);
  views_ = std::move(work_->views);
  scratch_ = take_scratch(mesh_);
  std::vector<BoundPlan> plans;
  for (const auto& [executor, source, destination] : work_->moves)
    plans.push_back(executor->bound(source, destination));
  plans_ = of_same_kinds(plans);
  left_open_before_ = ever_left_open;
  run();
  if (run_->test()) return end();
  rest();
}

/// Runs the groups of plans in order. All but the last are complete on return, and the last one goes on
/// in the background: so all ranks begin all executions in one order.
void PendingCall::run() {
  for (const auto& together : plans_) {
    run_.reset();
    run_ = std::make_unique<Run>(work_->execution, together, work_->moves.front().executor->group(),
                                 *scratch_, work_->label);
    if (&together != &plans_.back()) run_->wait();
  }
}

namespace {

/// Registers, once, that pending calls are completed before Kokkos ends: kernels cannot unpack
/// after it.
void complete_at_finalize() {
  static const bool is_registered = [] {
    Kokkos::push_finalize_hook([] {
      if (!comm::is_usable()) return;
      for (auto* control : live_controls()) control->finish_detached();
    });
    return true;
  }();
  static_cast<void>(is_registered);
}

}  // namespace

void PendingCall::rest() {
  complete_at_finalize();
  operation_->detach(this, [](void* self) { return static_cast<PendingCall*>(self)->advance(); });
}

/// Ends the call when all is done: nothing of it remains but its result.
void PendingCall::end() {
  run_.reset();
  plans_.clear();
  give_back(mesh_, std::move(scratch_));
  if (work_->complete) work_->complete(work_->execution);
  finish(work_->execution, work_->label);
  work_.reset();
  operation_.reset();
}

/// Runs go_on() as this call, and keeps its exceptions for wait(). `is_apart` is true if other
/// calls wait, from which this one is kept apart. Returns whether there is more to do.
template <class GoOn>
bool PendingCall::go_on_as_this_call(bool is_apart, const GoOn& go_on) noexcept {
  if (!run_ || background_error_) return false;
  if (is_apart)
    operation_->attach_apart();
  else
    operation_->attach();
  try {
    require<Error>(!Kokkos::is_finalized(), "Pending: Kokkos was finalised before the result");
    if (operation_->is_doomed()) {
      run_->abandon();
      operation_->give_up();
    }
    go_on();
    if (run_->test()) {
      end();
      return false;
    }
  } catch (...) {
    background_error_ = std::current_exception();
    // Abandon comes first: the other ranks must be told of the messages that are on their way. A
    // rank that waits for this call also waits until these are received; here other calls may be
    // waiting.
    if (run_) run_->abandon();
    operation_->announce(background_error_);
  }
  rest();
  return !background_error_;
}

bool PendingCall::advance() noexcept {
  return go_on_as_this_call(true, [] {});
}

bool PendingCall::test() {
  if (comm::is_usable()) advance_all();
  if (operation_) {
    auto& control = *mesh_.communicator().state().control;
    control.catch_up(seconds());
    if (!watch_) watch_.emplace(control);
    watch_->come_back();
    go_on_as_this_call(false, [&] { run_->look(*watch_); });
  }
  if (background_error_ || error_) wait();
  return !operation_;
}

void PendingCall::wait() {
  if (error_) std::rethrow_exception(error_);
  if (operation_) mesh_.communicator().state();
  // Calls that were started earlier come first.
  if (comm::is_usable()) advance_all();
  if (!operation_) return;
  operation_->attach();
  try {
    if (background_error_) std::rethrow_exception(background_error_);
    run_->wait();
    end();
  } catch (...) {
    fail();
  }
}

void PendingCall::fail() {
  try {
    run_.reset();
    if (scratch_ && ever_left_open != left_open_before_) {
      keep_for_messages(mesh_.communicator(), left_open_before_, views_);
      keep_for_messages(mesh_.communicator(), left_open_before_, scratch_);
    }
    operation_->fail();
  } catch (const Doomed&) {
    error_ = std::make_exception_ptr(Error(given_up(operation_->name()).text));
    operation_.reset();
    if (Control::must_give_up()) throw;  // a call around this one must fail
    std::rethrow_exception(error_);
  } catch (...) {
    error_ = std::current_exception();
    operation_.reset();
    throw;
  }
}

}  // namespace tessera::detail
