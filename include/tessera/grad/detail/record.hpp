// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/grad/variable.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>
#include <tessera/tensor/from_local.hpp>

namespace tessera::detail {

/// Returns a hash of the elements of a View.
template <class V>
std::uint64_t hash_of_elements(const V& view) {
  Kokkos::fence("tessera::grad: before hashing a saved tensor");
  const auto elements = row_major_copy(view);
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(elements.data()), elements.span() * sizeof(*elements.data())});
}

/// Throws InvalidArgument: a tensor that the backward pass needs was changed.
[[noreturn]] void throw_changed(const char* function);

/// Returns an object; while it lives, calls of the library do not write to the elements of the value.
/// `function` needs them.
template <class T>
std::shared_ptr<const void> save_elements(const T& value, const char* function) {
  if constexpr (is_dtensor_v<T>)
    return save_memory(array_ref(value.to_local()), function);
  else if constexpr (is_number_v<T>)
    return nullptr;
  else
    return save_memory(array_ref(value), function);
}

/// Keeps a value until the backward pass needs it. Calls of the library that write to its elements
/// meanwhile throw InvalidArgument, which names `function`.
template <class T>
class Saved {
 public:
  Saved(const TapeState& tape, const char* function, const T& value)
      : value_(value), unchanged_(save_elements(value, function)), function_(function) {
    if constexpr (!is_number_v<T>)
      if (tape.checks_saved()) hash_ = hash_now();
  }

  /// Returns the value. Errors: InvalidArgument if its elements are others than they were, on all
  /// ranks, if the tape checks that.
  const T& get() const {
    if constexpr (is_dtensor_v<T>) {
      if (hash_)
        collectively(value_.device_mesh(), "backward", [&](Operation& operation) {
          if (hash_now() != *hash_) throw_changed(function_);
          operation.agree_always(1, [] { return std::string("backward"); });
        });
    } else if constexpr (!is_number_v<T>) {
      if (hash_ && hash_now() != *hash_) throw_changed(function_);
    }
    return value_;
  }

 private:
  std::uint64_t hash_now() const {
    if constexpr (is_dtensor_v<T>)
      return hash_of_elements(value_.to_local());
    else if constexpr (!is_number_v<T>)
      return hash_of_elements(value_);
    else
      return 0;
  }

  T value_;
  std::shared_ptr<const void> unchanged_;  ///< see save_memory(); copies share it
  const char* function_;
  std::optional<std::uint64_t> hash_;
};

/// Throws InvalidArgument: operands were recorded by two tapes.
[[noreturn]] void throw_two_tapes();

template <class A>
void find_tape(std::shared_ptr<TapeState>& tape, const A& operand) {
  if constexpr (is_variable_v<A>) {
    const auto& slot = VariableAccess::slot(operand);
    if (!slot) return;
    const auto& other = VariableAccess::tape(operand);
    if (other->has_ended()) return;
    if (tape && tape != other) throw_two_tapes();
    other->require_current(*slot);
    tape = other;
  }
}

/// Returns the tape that records an operation on these operands; null if none does. Errors:
/// InvalidArgument for operands of two tapes, and for a value from before the last backward pass.
template <class... A>
std::shared_ptr<TapeState> tape_of(const A&... operands) {
  std::shared_ptr<TapeState> tape;
  if (is_recording()) (find_tape(tape, operands), ...);
  return tape;
}

/// Says how a value is made: what is known of it without its elements.
template <class T>
struct Form {
  explicit Form(const T&) {}
};
template <class V>
struct Form<DTensor<V>> {
  explicit Form(const DTensor<V>& tensor)
      : mesh(tensor.device_mesh()), spec(like_spec(tensor.spec())) {}

  const Extents& shape() const { return spec.shape(); }
  /// Returns zeros for the gradient of the value.
  gradient_t<DTensor<V>> zeros() const {
    return tessera::zeros<redistributed_view_t<V>>(mesh, Target(spec), spec.shape());
  }

  DeviceMesh mesh;
  DTensorSpec spec;  ///< that of the gradient
};
template <LocalView V>
struct Form<V> {
  explicit Form(const V& view) : extents(extents_of(view)) {}

  const Extents& shape() const { return extents; }
  redistributed_view_t<V> zeros() const {
    const auto result = allocate<redistributed_view_t<V>>(extents, "tessera::gradient");
    Kokkos::deep_copy(result, typename redistributed_view_t<V>::value_type(0));
    return result;
  }

  Extents extents;
};

/// Says whether an adjoint needs the elements of an operand.
enum class Keep : std::uint8_t { nothing, elements };

inline Keep keep_if(bool is_needed) {
  return is_needed ? Keep::elements : Keep::nothing;
}

/// Is one operand of a recorded operation: where its gradient goes, if that is wanted, and its value, if the
/// adjoint needs it.
template <class T>
class Input {
 public:
  template <class A>
  Input(const TapeState& tape, const char* function, const A& operand, Keep keep)
      : form_(value_of(operand)) {
    if constexpr (is_variable_v<A>) slot_ = VariableAccess::slot(operand);
    if (keep == Keep::elements) value_.emplace(tape, function, value_of(operand));
  }

  /// Returns whether a gradient with respect to it is wanted.
  bool is_wanted() const { return slot_ != nullptr; }
  /// Returns the value, if it was kept. Errors: those of Saved::get().
  const T& value() const { return value_->get(); }
  const Form<T>& form() const { return form_; }
  template <class G>
  void add(const G& gradient) const {
    slot_->add(gradient);
  }

 private:
  std::optional<Saved<T>> value_;
  Form<T> form_;
  std::shared_ptr<Slot<T>> slot_;
};

/// Returns whether a gradient with respect to an operand is wanted.
template <class A>
bool is_wanted(const A& operand) {
  if constexpr (is_variable_v<A>)
    return VariableAccess::slot(operand) != nullptr;
  else
    return false;
}

/// Names the type of the value of an operand.
template <class A>
using value_of_t = std::remove_cvref_t<decltype(value_of(std::declval<const A&>()))>;

/// Returns the Input of an operand, which is a variable, a tensor, a View or a number.
template <class A>
Input<value_of_t<A>> input_of(const TapeState& tape, const char* function, const A& operand,
                              Keep keep = Keep::elements) {
  return {tape, function, operand, keep};
}

/// Returns a variable for the result of an operation. adjoint(dy), with the gradient of the result, passes on
/// the gradients of its operands. It runs at most once unless the tape is retained, on all ranks in the
/// same order.
template <class T, class Adjoint>
grad::BasicVariable<T> recorded(const std::shared_ptr<TapeState>& tape, const T& value,
                                Adjoint adjoint) {
  if (!tape) return VariableAccess::make(value, nullptr, std::shared_ptr<Slot<T>>());
  auto slot = std::make_shared<Slot<T>>(value, tape->generation());
  tape->record(slot, [slot, adjoint = std::move(adjoint)] { adjoint(slot->take()); });
  return VariableAccess::make(value, tape, std::move(slot));
}

/// Returns a variable that nothing records.
template <class T>
grad::BasicVariable<T> unrecorded(const T& value) {
  return VariableAccess::make(value, nullptr, std::shared_ptr<Slot<T>>());
}

}  // namespace tessera::detail
