// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/grad/detail/kept.hpp>
#include <tessera/grad/detail/tape_state.hpp>
#include <tessera/ops/redistribution_scope.hpp>

// What functions need that run again in the backward pass, recorded by an inner tape.
namespace tessera::detail {

/// Throws InvalidArgument: a function uses a recorded variable that is no argument.
[[noreturn]] void throw_captured();

/// Returns an argument without its record.
template <class A>
auto without_record(const A& argument) {
  if constexpr (is_variable_v<A>)
    return unrecorded(value_of(argument));
  else
    return argument;
}

/// Returns what was kept of an argument of type A as a function gets it when it is recorded on an
/// inner tape.
template <class A, class K>
auto argument_again(const std::shared_ptr<TapeState>& tape, const K& kept) {
  if constexpr (!is_variable_v<A>)
    return kept.value();
  else
    return kept.is_wanted() ? variable_on(tape, kept.value()) : unrecorded(kept.value());
}

/// Calls a function with arguments without a record. Errors: InvalidArgument if the result is
/// recorded all the same.
template <class F, class... A>
auto call_unrecorded(const F& function, const A&... arguments) {
  auto result = function(without_record(arguments)...);
  static_assert(is_variable_v<decltype(result)>,
                "checkpoint: the function returns no variable; it gets variables, and returns what "
                "operators compute with them");
  if constexpr (is_variable_v<decltype(result)>)
    if (VariableAccess::slot(result)) throw_captured();
  return result;
}

/// Runs the backward pass of an inner tape.
template <class T, class G>
void run_back(TapeState& tape, const grad::BasicVariable<T>& result, const G& gradient) {
  const auto& slot = VariableAccess::slot(result);
  if (!slot) return;
  if (VariableAccess::tape(result).get() != &tape) throw_captured();
  slot->add(gradient);
  tape.run(false);
}

/// Passes the gradient that has arrived at a variable of an inner tape on to the argument that it
/// was made of.
template <class A, class K, class I>
void pass_on(const K& kept, const I& again) {
  if constexpr (is_variable_v<A>) {
    const auto& slot = VariableAccess::slot(again);
    if (slot && slot->has_gradient()) kept.add(slot->take());
  }
}

/// Calls visit(I...) with the positions of N arguments, as integral constants.
template <std::size_t N, class Visit>
decltype(auto) with_positions(const Visit& visit) {
  return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
    return visit(std::integral_constant<std::size_t, I>()...);
  }
  (std::make_index_sequence<N>());
}

/// Records y, which f has computed of the inputs without a record. The backward pass calls f again.
template <class F, class T, class... Inputs>
grad::BasicVariable<T> recorded_rerun(F f, const grad::BasicVariable<T>& y,
                                      const Inputs&... inputs) {
  const auto tape = tape_of(inputs...);
  if (!tape) return y;
  const KeptTuple<Inputs...> kept{keep_argument(*tape, "checkpoint", inputs)...};
  const auto function = std::make_shared<const F>(std::move(f));
  const auto redistribution = current_redistribution();
  const bool checks_saved = tape->checks_saved();
  return recorded(tape, y.detach(), [=](const auto& dy) {
    const auto inner = std::make_shared<TapeState>(checks_saved);
    with_positions<sizeof...(Inputs)>([&](auto... i) {
      const std::tuple again{argument_again<Inputs>(inner, std::get<i>(kept))...};
      const auto result = [&] {
        const RedistributionScope scope(redistribution);
        const RecordingScope on(true);
        return std::apply(*function, again);
      }();
      run_back(*inner, result, dy);
      (pass_on<Inputs>(std::get<i>(kept), std::get<i>(again)), ...);
    });
  });
}

}  // namespace tessera::detail
