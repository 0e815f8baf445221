// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/grad/detail/loop_reversal.hpp>
#include <tessera/grad/detail/rerun.hpp>
#include <tessera/ops/redistribution_scope.hpp>

namespace tessera::detail {

/// Throws InvalidArgument for less than 0 steps, or less than 1 snapshot.
void require_steps(int steps, int snapshots);

/// Names the type of what a step returns for a state with a value of type T; void if that is no
/// variable.
template <class Step, class T, class... P>
struct NextState {
  template <class R>
  static std::type_identity<void> value_in(const R&);
  template <class R>
  static std::type_identity<R> value_in(const grad::BasicVariable<R>&);
  using type = typename decltype(value_in(
      std::declval<const Step&>()(std::declval<const grad::BasicVariable<T>&>(), 0,
                                  without_record(std::declval<const P&>())...)))::type;
};

/// Tells whether a View of type From is also one of type To.
template <class To, class From>
inline constexpr bool is_also = false;
template <LocalView To, LocalView From>
inline constexpr bool is_also<To, From> = std::is_convertible_v<From, To>;
template <class To, class From>
inline constexpr bool is_also<DTensor<To>, DTensor<From>> = std::is_convertible_v<From, To>;

/// Returns the first state as a variable of the type that steps return.
template <class T, class State>
grad::BasicVariable<T> as_state(const State& state) {
  if constexpr (std::is_same_v<State, grad::BasicVariable<T>>) {
    return state;
  } else {
    const auto& given = value_of(state);
    const T value = [&] {
      if constexpr (is_dtensor_v<T>)
        return DTensorAccess::make_within(typename T::view_type(given.to_local()), given.spec(),
                                          given);
      else
        return T(given);
    }();
    const auto tape = tape_of(state);
    if (!tape) return unrecorded(value);
    const auto input = input_of(*tape, "checkpoint", state, Keep::nothing);
    return recorded(tape, value, [input](const auto& dy) { input.add(dy); });
  }
}

/// Is the reversal of a loop whose steps take a state with a value of type T, and these parameters.
template <class Step, class T, class... P>
class RecordedLoop final : public LoopReversal {
 public:
  RecordedLoop(const TapeState& tape, Step step, int steps, int snapshots,
               const grad::BasicVariable<T>& state, const P&... parameters)
      : LoopReversal(steps, snapshots),
        step_(std::move(step)),
        checks_saved_(tape.checks_saved()),
        first_(input_of(tape, "checkpoint", state)),
        parameters_{keep_argument(tape, "checkpoint", parameters)...} {}

  /// Runs all steps, and returns the last state.
  T run() {
    go_forward();
    return recorded_->result.detach();
  }

  /// Goes back through all steps, from the gradient of the last state.
  void run_back(const gradient_t<T>& gradient) {
    gradient_ = gradient;
    go_back();
    if (first_.is_wanted() && gradient_) first_.add(*gradient_);
    gradient_.reset();
  }

 private:
  using Variable = grad::BasicVariable<T>;
  using Parameters = std::tuple<decltype(argument_again<P>(
      std::declval<const std::shared_ptr<TapeState>&>(), std::declval<const kept_t<P>&>()))...>;

  struct Snapshot {
    T state;
    std::shared_ptr<const void> unchanged;
  };

  /// Is a step that was recorded on a tape of its own.
  struct Recorded {
    std::shared_ptr<TapeState> tape;
    Variable state;
    Parameters parameters;
    Variable result;
  };

  void begin() override {
    recorded_.reset();
    snapshots_.clear();
    current_ = first_.value();
  }
  void store() override { snapshots_.push_back({current_, save_elements(current_, "checkpoint")}); }
  void restore() override { current_ = snapshots_.back().state; }
  void discard() override { snapshots_.pop_back(); }

  void advance(int step) override {
    const RedistributionScope scope(redistribution_);
    current_ = with_positions<sizeof...(P)>([&](auto... i) {
                 return call_unrecorded(step_, unrecorded(current_), step,
                                        parameter_value<P>(std::get<i>(parameters_))...);
               }).detach();
  }

  void record(int step) override {
    const RedistributionScope scope(redistribution_);
    const RecordingScope on(true);
    const auto tape = std::make_shared<TapeState>(checks_saved_);
    const bool is_wanted = step > 0 || first_.is_wanted();
    Recorded made{tape, is_wanted ? variable_on(tape, current_) : unrecorded(current_),
                  with_positions<sizeof...(P)>([&](auto... i) {
                    return Parameters{argument_again<P>(tape, std::get<i>(parameters_))...};
                  }),
                  Variable()};
    current_ = T();
    made.result = std::apply(
        [&](const auto&... parameters) { return step_(made.state, step, parameters...); },
        made.parameters);
    recorded_ = std::move(made);
  }

  void reverse() override {
    const auto recorded = std::exchange(recorded_, std::nullopt);
    if (!gradient_) return;
    detail::run_back(*recorded->tape, recorded->result, *gradient_);
    with_positions<sizeof...(P)>([&](auto... i) {
      (pass_on<P>(std::get<i>(parameters_), std::get<i>(recorded->parameters)), ...);
    });
    gradient_.reset();
    const auto& slot = VariableAccess::slot(recorded->state);
    if (slot && slot->has_gradient()) gradient_ = slot->take();
  }

  /// Returns a parameter of type A as a step gets it that is not recorded.
  template <class A, class K>
  static auto parameter_value(const K& kept) {
    if constexpr (is_variable_v<A>)
      return unrecorded(kept.value());
    else
      return kept.value();
  }

  Step step_;
  bool checks_saved_;
  Redistribution redistribution_ = current_redistribution();
  Input<T> first_;
  KeptTuple<P...> parameters_;
  std::vector<Snapshot> snapshots_;
  T current_;
  std::optional<Recorded> recorded_;
  std::optional<gradient_t<T>> gradient_;
};

}  // namespace tessera::detail
