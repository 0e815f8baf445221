// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <tessera/error/error.hpp>
#include <tessera/grad/detail/is_variable.hpp>
#include <tessera/grad/detail/tape_state.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

namespace detail {
struct VariableAccess;

/// Throws InvalidArgument: a variable has no gradient. `is_leaf` tells whether it was watched.
[[noreturn]] void throw_no_gradient(bool is_leaf);
}  // namespace detail

namespace grad {

/// A BasicVariable is a value whose use a tape records, so that gradients with respect to it can be
/// computed: Variable<V> a tensor, LocalVariable<V> a View of this rank. Operators take both as they take
/// tensors and Views, and give variables. Copies are shallow.
///
/// Comparisons, argmin, argmax, all and any give plain tensors, since they have no derivative. So
/// do all operators on variables that no tape records.
template <class T>
class BasicVariable {
 public:
  using value_type = typename T::value_type;

  /// Gives the number of dims.
  static constexpr std::integral_constant<std::size_t, detail::operand_rank<T>> rank{};

  /// Holds no value.
  BasicVariable() = default;

  /// Returns the value, whose elements cannot be written: what is recorded counts on them.
  auto value() const { return detail::read_only(value_); }
  /// Returns the value without its record. Do not write to it before the backward pass: see Tape.
  const T& detach() const { return value_; }

  /// Returns whether a gradient has arrived. False for values that were not watched.
  bool has_grad() const { return slot_ && slot_->total() != nullptr; }
  /// Returns the gradient of a watched value: the sum over all backward passes since the last
  /// Tape::zero_grad(). Its elements cannot be written, since other gradients may share them: change
  /// a clone. Errors: InvalidArgument if there is none.
  const detail::read_only_t<detail::gradient_t<T>>& grad() const {
    if (!has_grad()) detail::throw_no_gradient(slot_ && slot_->is_leaf());
    return *slot_->total();
  }

  /// Returns the mesh of the tensor.
  const DeviceMesh& device_mesh() const requires is_dtensor_v<T> { return value_.device_mesh(); }
  const DTensorSpec& spec() const requires is_dtensor_v<T> { return value_.spec(); }
  const Placements& placements() const requires is_dtensor_v<T> { return value_.placements(); }
  /// Returns the global shape of the tensor.
  const Extents& shape() const requires is_dtensor_v<T> { return value_.shape(); }
  /// Returns the extent of one dim, counted from the last one if it is negative.
  std::int64_t extent(int dim) const {
    if constexpr (is_dtensor_v<T>)
      return value_.extent(dim);
    else
      return detail::extent_of(detail::extents_of(value_), dim);
  }

 private:
  friend detail::VariableAccess;

  T value_;
  std::shared_ptr<detail::TapeState> tape_;
  std::shared_ptr<detail::Slot<T>> slot_;
};

/// A Variable is a DTensor with a place for its gradient.
template <LocalView V>
using Variable = BasicVariable<DTensor<V>>;

/// A LocalVariable is a View of this rank with a place for its gradient.
template <LocalView V>
using LocalVariable = BasicVariable<V>;

/// While a NoRecordScope lives, what this thread computes with variables is not recorded. Scopes nest.
class NoRecordScope {
 public:
  NoRecordScope() : off_(false) {}

 private:
  detail::RecordingScope off_;
};

}  // namespace grad

namespace detail {

/// Gives the functions of this folder the parts of a variable.
struct VariableAccess {
  template <class T>
  static grad::BasicVariable<T> make(T value, const std::shared_ptr<TapeState>& tape,
                                     std::shared_ptr<Slot<T>> slot) {
    grad::BasicVariable<T> result;
    result.value_ = std::move(value);
    result.tape_ = tape;
    result.slot_ = std::move(slot);
    return result;
  }
  template <class T>
  static const std::shared_ptr<TapeState>& tape(const grad::BasicVariable<T>& variable) {
    return variable.tape_;
  }
  template <class T>
  static const std::shared_ptr<Slot<T>>& slot(const grad::BasicVariable<T>& variable) {
    return variable.slot_;
  }
};

/// Returns the value of a variable; anything else as it is.
template <class A>
const A& value_of(const A& operand) {
  return operand;
}
template <class T>
const T& value_of(const grad::BasicVariable<T>& variable) {
  return variable.detach();
}

}  // namespace detail
}  // namespace tessera
