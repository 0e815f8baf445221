// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <tessera/grad/detail/kept.hpp>
#include <tessera/local_map/detail/arguments.hpp>
#include <tessera/local_map/placements.hpp>

namespace tessera::detail {

/// Returns, for each flattened argument, the spec of the tensor whose local pieces vjp returns:
/// with the placements of `asked`, or those that func saw with Replicate for Partial.
///
/// Errors: InvalidArgument for another number of placements than of arguments, nullopt for a
/// Variable, placements for something else, and placements that do not fit.
std::vector<DTensorSpec> gradient_specs(const std::vector<Leaf>& leaves,
                                        const std::vector<bool>& is_variable,
                                        const InPlacements& asked);

/// Tells whether T is a tuple, pair, array or vector that holds tensors or variables at any depth.
template <class T>
inline constexpr bool holds_tensors =
    !is_tensor_operand_v<T> && (Container<T>::has_dtensor || Container<T>::has_variable);

/// Returns whether these arguments can be given to a grad::local_map. If not, it stops the compiler
/// with a sentence.
template <class... A>
consteval bool expect_arguments() {
  constexpr bool fit = !(has_variable_v<A> || ...) || !(holds_tensors<A> || ...);
  static_assert(fit,
                "grad::local_map: variables, and tensors beside them, are arguments of their own; "
                "take them out of the tuple, pair, array or vector");
  return fit;
}

/// Returns the tensor as func sees it: with this spec.
template <class V>
DTensor<V> as_seen(const DTensor<V>& tensor, const DTensorSpec& seen) {
  if (agree_but_for_rules(seen, tensor.spec()))
    return DTensorAccess::make_within(tensor.to_local(), seen, tensor);
  const auto moved = redistribute(tensor, Target(seen));
  return DTensorAccess::make_within(V(moved.to_local()), seen, moved);
}

/// Goes through the arguments of a call, of which some are variables.
class LocalMapArguments {
 public:
  /// Adds the leaves of an argument.
  template <class A>
  void add(const A& argument) {
    starts_.push_back(leaves.size());
    add_leaves(leaves, value_of(argument));
    is_variable.resize(leaves.size(), is_variable_v<A> && is_dtensor_v<value_of_t<A>>);
  }

  /// Returns argument `i` as func sees it, redistributed if that is what func asks for.
  template <class A>
  value_of_t<A> seen(std::size_t i, const A& argument) const {
    if constexpr (is_dtensor_v<value_of_t<A>>)
      return as_seen(value_of(argument), leaves[starts_[i]].spec);
    else
      return value_of(argument);
  }

  /// Returns the position of the first leaf of argument `i`.
  std::size_t start(std::size_t i) const { return starts_[i]; }

  std::vector<Leaf> leaves;
  std::vector<bool> is_variable;  ///< says of each leaf whether it is a tensor with a gradient

 private:
  std::vector<std::size_t> starts_;
};

/// Keeps an argument with the value that func saw.
template <class A>
kept_t<A> keep_as_seen(const TapeState& tape, const A& argument, const value_of_t<A>& seen) {
  if constexpr (is_variable_v<A>)
    return keep_argument(
        tape, "local_map",
        VariableAccess::make(seen, VariableAccess::tape(argument), VariableAccess::slot(argument)));
  else
    return keep_argument(tape, "local_map", seen);
}

}  // namespace tessera::detail
