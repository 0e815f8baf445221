// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/agreement/detail/wait.hpp>
#include <tessera/error/error.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/detail/view_traits.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {

struct BoundPlan;
class Run;

/// A PendingCall is a collective call in the background: what a Pending waits for, without types.
class PendingCall {
 public:
  /// Begins a call. `calls` is the log of the ranks that make it; null if this rank does not.
  /// `mesh` is one of their meshes.
  PendingCall(const DeviceMesh& mesh, OperationLog* calls, FunctionName function);
  /// Waits for the end, and drops exceptions. After the end of MPI or Kokkos it only keeps the
  /// memory.
  ~PendingCall();
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  /// Calls prepare(operation), which returns a PendingWork if there is one, and sends the first
  /// messages. Errors: those of collectively().
  template <class Prepare>
  void start(const Prepare& prepare) {
    try {
      begin(named(operation_->name(), [&] { return prepare(*operation_); }));
    } catch (...) {
      fail();
    }
  }

  /// Returns whether the call is complete, after advancing all pending calls in start order.
  /// Errors: those of wait().
  bool test();
  /// Waits for the end. Errors: those of collectively(), thrown again by every further call.
  void wait();

 private:
  void begin(std::optional<PendingWork> work);
  void run();
  void rest();
  bool advance() noexcept;
  template <class GoOn>
  bool go_on_as_this_call(bool is_apart, const GoOn& go_on) noexcept;
  void end();
  [[noreturn]] void fail();

  DeviceMesh mesh_;
  std::optional<Operation> operation_;  ///< empty once the call is complete
  std::optional<PendingWork> work_;
  std::shared_ptr<void> views_;  ///< kept until the Pending is destroyed
  std::shared_ptr<Scratch> scratch_;
  std::vector<std::vector<BoundPlan>> plans_;  ///< those in one entry run together
  std::unique_ptr<Run> run_;
  std::uint64_t left_open_before_ = 0;  ///< value of ever_left_open before run_ began
  std::optional<Watch> watch_;
  std::exception_ptr background_error_;  ///< not settled with the other ranks yet
  std::exception_ptr error_;
};

}  // namespace detail

namespace detail {

/// Holds the result of a Pending. A ViewHolder holds Views, which may outlive Kokkos; tensors
/// provide for that themselves.
template <class T>
class Kept {
 public:
  Kept() = default;
  explicit Kept(T value) : value_(std::move(value)) {}
  const T& get() const { return value_; }

 private:
  T value_;
};
template <LocalView V>
class Kept<V> : public ViewHolder<V> {
 public:
  using ViewHolder<V>::ViewHolder;
};

}  // namespace detail

/// A Pending is the result of a call that goes on in the background: a View or a tensor. It keeps
/// the Views of the call alive.
///
/// Several calls may be pending at once. They advance, in the order in which they were started,
/// whenever one of them is tested or waited for, and while any other call of the library waits. Do
/// not change the source before the end. The destructor waits, too. Not copyable.
template <class Result>
class Pending {
 public:
  /// Takes a call that was started; the functions whose names end in _async make it.
  Pending(std::unique_ptr<detail::PendingCall> call, const Result& result)
      : result_(result), call_(std::move(call)) {}
  Pending(Pending&&) noexcept = default;
  /// Waits for the call that this Pending held.
  Pending& operator=(Pending&& other) noexcept {
    call_ = std::move(other.call_);
    result_ = std::move(other.result_);
    return *this;
  }

  /// Returns whether the result is complete. Local. Errors: those of wait().
  bool test() { return call().test(); }

  /// Waits for the result and returns it. Collective over the ranks that started the call. Errors:
  /// those of collectively(); InvalidArgument, on this rank alone, once another Pending was moved
  /// from this one.
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
  std::unique_ptr<detail::PendingCall> call_;  // last: the call ends before the Views do
};

namespace detail {

/// Starts a call in the background, see PendingCall(). prepare(operation) returns a std::pair: the
/// result, which is filled later, and a std::optional<PendingWork>, empty if this rank has nothing to
/// do.
template <class Prepare>
auto start_call(FunctionName function, const DeviceMesh& mesh, OperationLog* calls,
                const Prepare& prepare) {
  using Result = typename std::invoke_result_t<const Prepare&, Operation&>::first_type;
  auto call = std::make_unique<PendingCall>(mesh, calls, function);
  Result result;
  call->start([&](Operation& operation) {
    auto prepared = prepare(operation);
    result = std::move(prepared.first);
    return std::move(prepared.second);
  });
  return Pending<Result>(std::move(call), result);
}
/// Starts a call of the ranks of the mesh.
template <class Prepare>
auto start_call(FunctionName function, const DeviceMesh& mesh, const Prepare& prepare) {
  auto* const calls = named(function.text, [&] { return MeshAccess::calls(mesh); });
  return start_call(function, mesh, calls, prepare);
}

}  // namespace detail

}  // namespace tessera
