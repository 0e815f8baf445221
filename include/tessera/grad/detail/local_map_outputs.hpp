// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/grad/detail/kept.hpp>
#include <tessera/grad/detail/slot_group.hpp>
#include <tessera/local_map/placements.hpp>

namespace tessera::detail {

/// Tells whether one of the output placements, a tuple of types, is none but None.
template <class Outs>
inline constexpr bool has_placement = false;
template <class... Outs>
inline constexpr bool has_placement<std::tuple<Outs...>> = (!std::is_same_v<Outs, None> || ...);

/// Returns an output as a variable, if it has a placement; `tape` is null if nothing is recorded.
template <class Out, class Y>
auto output_variable(const std::shared_ptr<TapeState>& tape, const Y& y) {
  if constexpr (std::is_same_v<Out, None> || !is_array_v<Y>)
    return y;
  else
    return tape ? variable_on(tape, y) : unrecorded(y);
}
/// Returns the tuple of the outputs as variables. Outs is the tuple of their placements' types.
template <class Outs, class... Y>
auto output_variables(const std::shared_ptr<TapeState>& tape, const std::tuple<Y...>& y) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::make_tuple(output_variable<std::tuple_element_t<I, Outs>>(tape, std::get<I>(y))...);
  }
  (std::index_sequence_for<Y...>());
}

/// Keeps an output that is a variable.
template <class Y>
class KeptOutput {
 public:
  KeptOutput(const TapeState& tape, const grad::BasicVariable<Y>& y)
      : value_(input_of(tape, "local_map", y)), slot_(VariableAccess::slot(y)) {}

  const Y& value() const { return value_.value(); }

  /// Returns the gradient that has arrived, placed as the output with Replicate for Partial; zeros
  /// if none has arrived.
  gradient_t<Y> take() const {
    if (!slot_->has_gradient()) return value_.form().zeros();
    if constexpr (is_dtensor_v<Y>)
      return redistribute(slot_->take(), Target(value_.form().spec));
    else
      return slot_->take();
  }

 private:
  Input<Y> value_;
  std::shared_ptr<Slot<Y>> slot_;
};

template <class Y>
KeptOutput<Y> keep_output(const TapeState& tape, const grad::BasicVariable<Y>& y) {
  return {tape, y};
}
template <class Y>
KeptValue<Y> keep_output(const TapeState&, const Y& y) {
  return KeptValue<Y>(y);
}
template <class... Y>
auto keep_outputs(const TapeState& tape, const std::tuple<Y...>& outputs) {
  return std::apply([&](const auto&... y) { return std::make_tuple(keep_output(tape, y)...); },
                    outputs);
}
/// Names the tuple of what is kept of a tuple of outputs.
template <class Outputs>
using kept_outputs_t =
    decltype(keep_outputs(std::declval<const TapeState&>(), std::declval<const Outputs&>()));

/// Returns the gradient of an output in a tuple; an empty tuple for an output that has none.
template <class Y>
std::tuple<gradient_t<Y>> take_gradient(const KeptOutput<Y>& output) {
  return {output.take()};
}
template <class Y>
std::tuple<> take_gradient(const KeptValue<Y>&) {
  return {};
}
/// Returns the tuple of the gradients of all outputs that have one.
template <class... Output>
auto take_gradients(const std::tuple<Output...>& outputs) {
  return std::apply(
      [](const auto&... output) {
        // The braces fix the order, in which gradients may be redistributed.
        const std::tuple<decltype(take_gradient(output))...> all{take_gradient(output)...};
        return std::apply([](const auto&... some) { return std::tuple_cat(some...); }, all);
      },
      outputs);
}

/// Returns the slots of all outputs that are variables, as one.
template <class... Y>
std::shared_ptr<SlotGroup> slots_of(const std::tuple<Y...>& outputs) {
  std::vector<std::shared_ptr<AnySlot>> slots;
  const auto add = [&](const auto& output) {
    if constexpr (is_variable_v<std::remove_cvref_t<decltype(output)>>)
      slots.push_back(VariableAccess::slot(output));
  };
  std::apply([&](const auto&... output) { (add(output), ...); }, outputs);
  return std::make_shared<SlotGroup>(std::move(slots));
}

}  // namespace tessera::detail
