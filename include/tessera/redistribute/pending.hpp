// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/agreement/detail/wait.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera {

namespace detail {

struct BoundPlan;
class Run;

/// A collective call in the background: what a Pending waits for, without types.
class PendingCall {
 public:
  /// What the call moves.
  struct Work {
    Redistributor redistributor;
    Execution execution;
    ArrayRef source;
    ArrayRef destination;
    std::shared_ptr<void> views;  ///< what holds the memory of both
    const char* label;
  };

  /// `calls`: of the ranks that make it; null where this one does not. `mesh`: one of theirs.
  PendingCall(const DeviceMesh& mesh, OperationLog* calls, FunctionName function);
  /// Waits for the end, and swallows what it throws. After MPI's end it does nothing.
  ~PendingCall();
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  /// prepare(operation), which returns a Work or that there is none, then the first messages.
  /// Errors: as collectively().
  template <class Prepare>
  void start(const Prepare& prepare) {
    try {
      begin(prepare(*operation_));
    } catch (...) {
      fail();
    }
  }

  /// Whether it is complete; moves this and other pending calls on, in start order. Errors: as
  /// wait().
  bool test();
  /// Errors: as collectively(), again at every further call.
  void wait();

 private:
  void begin(std::optional<Work> work);
  void rest();
  bool advance() noexcept;
  template <class GoOn>
  bool go_on_as_this_call(bool is_apart, const GoOn& go_on) noexcept;
  void end();
  [[noreturn]] void fail();

  DeviceMesh mesh_;
  std::optional<Operation> operation_;  ///< none once it is complete
  std::optional<Work> work_;
  std::shared_ptr<void> views_;  ///< until the Pending is destroyed
  std::shared_ptr<Scratch> scratch_;
  std::unique_ptr<BoundPlan> bound_;
  std::unique_ptr<Run> run_;
  std::uint64_t left_open_before_ = 0;  ///< ever_left_open, before run_ began
  std::optional<Watch> watch_;
  std::exception_ptr background_error_;  ///< not yet settled with the other ranks
  std::exception_ptr error_;
};

}  // namespace detail

namespace detail {

/// What a Pending keeps: Views may outlive Kokkos, and tensors see to it themselves.
template <class T>
class Kept {
 public:
  Kept() = default;
  explicit Kept(T value) : value_(std::move(value)) {}
  const T& get() const { return value_; }

 private:
  T value_;
};
template <AnyView V>
class Kept<V> : public ViewHolder<V> {
 public:
  using ViewHolder<V>::ViewHolder;
};

}  // namespace detail

/// The result of a call that goes on in the background: a View or a tensor. It keeps the Views
/// alive.
///
/// Several may be pending at once. They move on, in the order in which they were started, whenever
/// one is tested or waited for and while any other call of the library waits. Do not change the
/// source before the end. Destroying it waits too. Not copyable.
template <class Result>
class Pending {
 public:
  /// Made by the functions whose names end in _async.
  Pending(std::unique_ptr<detail::PendingCall> call, const Result& result)
      : result_(result), call_(std::move(call)) {}
  Pending(Pending&&) noexcept = default;
  /// Waits for what it held.
  Pending& operator=(Pending&& other) noexcept {
    call_ = std::move(other.call_);
    result_ = std::move(other.result_);
    return *this;
  }

  /// Whether the result is complete. Local. Errors: as wait().
  bool test() { return call().test(); }

  /// Waits for the result. Collective over the ranks that started it. Errors: as collectively();
  /// InvalidArgument, on this rank, once another one has been moved from this.
  Result wait() {
    call().wait();
    return result_.get();
  }

 private:
  detail::PendingCall& call() const {
    require(call_ != nullptr, "Pending: expected a call that was not moved to another Pending");
    return *call_;
  }

  detail::Kept<Result> result_;
  std::unique_ptr<detail::PendingCall> call_;  // last: it ends before the Views do
};

}  // namespace tessera
