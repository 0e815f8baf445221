// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/grad/detail/record.hpp>

namespace tessera::detail {

template <class T>
inline constexpr bool is_array_v = is_dtensor_v<T> || Kokkos::is_view_v<T>;

/// Keeps an argument that is no array.
template <class T>
class KeptValue {
 public:
  explicit KeptValue(const T& value) : value_(value) {}

  const T& value() const { return value_; }
  bool is_wanted() const { return false; }

 private:
  T value_;
};

/// Keeps an argument, with its elements, until the backward pass. Returns an Input for a variable,
/// a tensor or a View.
template <class A>
auto keep_argument(const TapeState& tape, const char* function, const A& argument) {
  using T = value_of_t<A>;
  if constexpr (is_array_v<T>)
    return input_of(tape, function, argument);
  else
    return KeptValue<T>(argument);
}

template <class A>
using kept_t =
    decltype(keep_argument(std::declval<const TapeState&>(), "", std::declval<const A&>()));
/// Names the tuple of what keep_argument() returns for these arguments.
template <class... A>
using KeptTuple = std::tuple<kept_t<A>...>;

/// Returns a variable of a tape: its gradient arrives in a slot of its own.
template <class T>
grad::BasicVariable<T> variable_on(const std::shared_ptr<TapeState>& tape, const T& value) {
  return VariableAccess::make(value, tape, std::make_shared<Slot<T>>(value, tape->generation()));
}

}  // namespace tessera::detail
