// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include <tessera/grad/detail/record.hpp>
#include <tessera/grad/variable.hpp>
#include <tessera/placement/placements.hpp>

namespace tessera {

namespace detail {

/// Returns the spec of the gradient of a tensor: that of the tensor with Replicate for Partial, or with
/// the placements given.
DTensorSpec gradient_spec(const DTensorSpec& spec, const std::optional<Placements>& placements);

/// Throws InvalidArgument unless a tape can start a backward pass at a value.
void require_recorded(const TapeState* mine, const TapeState* other, const AnySlot* slot);
/// Throws InvalidArgument for a result with dims, whose gradient backward() does not know.
void require_no_dims(std::size_t dims);

}  // namespace detail

namespace grad {

/// Says how a tape records.
struct TapeOptions {
  /// Whether to hash what is saved for the backward pass, and to compare the hashes when it is used. It
  /// costs a pass over the memory, and an agreement for each saved tensor.
  bool check_saved = false;
};

/// Says how the gradient of a watched tensor is placed.
struct WatchOptions {
  /// Says the placements; left out, they are those of the tensor with Replicate for Partial.
  std::optional<Placements> grad_placements = {};
};

/// Says what happens to the record in a backward pass.
struct BackwardOptions {
  bool retain = false;  ///< whether it is kept for another one
};

/// A Tape records what is computed with its variables, and computes gradients in reverse order.
///
/// The gradient of y with respect to x is Aᵀ dy, where A is the derivative of y(x), and dy is given. For complex
/// numbers it is the one of the scalar product Re Σ conj(a) b.
///
/// All ranks of the mesh record the same, in the same order. What is recorded is kept until the backward pass,
/// until clear(), or until the tape ends, with the tensors and Views whose elements adjoints read.
/// Meanwhile, library calls that write to these elements throw InvalidArgument; writes through Views are found with
/// {.check_saved = true}. A watched tensor that no adjoint reads can be written. Where a call needs no exchange, a rank
/// throws only if its own local piece is kept: one without elements goes on. A tape is used by one thread.
///
/// Example: grad::Tape tape;
///          auto w = tape.watch(weights);
///          auto loss = ops::mean(ops::square(ops::matmul(x, w) - y));
///          tape.backward(loss);
///          weights -= 0.1 * w.grad();
class Tape {
 public:
  explicit Tape(const TapeOptions& options = {})
      : state_(std::make_shared<detail::TapeState>(options.check_saved)) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  /// Ends the record. Variables that live on are values and gradients; what is computed with them is not recorded.
  ~Tape() { state_->end(); }

  /// Returns a variable of the tensor. Its gradient adds up over backward passes.
  /// Local. Errors: InvalidArgument for placements that do not fit the tensor.
  template <LocalView V>
  Variable<V> watch(const DTensor<V>& tensor, const WatchOptions& options = {}) {
    const auto spec = detail::named(
        "watch", [&] { return detail::gradient_spec(tensor.spec(), options.grad_placements); });
    return watched(tensor, std::optional(spec));
  }
  /// Returns a variable of a View of this rank.
  template <LocalView V>
  LocalVariable<V> watch_local(const V& view) {
    return watched(view, std::nullopt);
  }

  /// Computes the gradients of a value of 0 dims with respect to all watched values.
  ///
  /// Collective: over the mesh, where gradients have to travel. The gradients of all watched tensors that
  ///             are Partial travel in one exchange, or in two, if some are large enough for two phases;
  ///             those that are placed otherwise than wanted in another one: see redistribute_all(). Operands of
  ///             adjoints move as under RedistributionScope(Redistribution::any).
  /// Errors:     InvalidArgument for a value with dims, for one that this tape has not recorded, and
  ///             for a second backward pass over what was not retained.
  template <class T>
  void backward(const BasicVariable<T>& value, const BackwardOptions& options = {}) {
    detail::named("backward", [&] {
      start(value);
      detail::require_no_dims(detail::operand_rank<T>);
    });
    if constexpr (detail::operand_rank<T> == 0) run(value, ones_like(value.detach()), options);
  }
  /// Computes the gradients Aᵀ `gradient`, where `gradient` has the shape of the value. It is copied first.
  /// Collective, Errors: as above; InvalidArgument for a gradient of another shape.
  template <class T, class G>
  requires(is_dtensor_v<T> == is_dtensor_v<G>) void backward(const BasicVariable<T>& value,
                                                             const G& gradient,
                                                             const BackwardOptions& options = {}) {
    static_assert(detail::operand_rank<T> == detail::operand_rank<G>,
                  "backward takes a gradient with as many dims as the value");
    detail::named("backward", [&] {
      start(value);
      detail::require_gradient_shape(detail::shape_of(value.detach()), detail::shape_of(gradient));
    });
    run(value, gradient, options);
  }

  /// Forgets the gradients of all watched values.
  void zero_grad() { state_->zero(); }
  /// Forgets what is recorded. Gradients of watched values stay; with results that were computed before, nothing can be
  /// recorded any more. Local.
  void clear() { state_->clear(); }

 private:
  template <class T>
  BasicVariable<T> watched(const T& value, std::optional<DTensorSpec> wanted) {
    constexpr auto kind = element_kind<typename detail::OperandElement<T>::type>;
    static_assert(is_floating(kind) || is_complex(kind),
                  "a tape watches floating-point and complex numbers: others have no gradient");
    auto slot = std::make_shared<detail::LeafSlot<T>>(value, std::move(wanted));
    state_->add_leaf(slot);
    return detail::VariableAccess::make<T>(value, state_, std::move(slot));
  }

  template <class T>
  void start(const BasicVariable<T>& value) const {
    detail::require_recorded(state_.get(), detail::VariableAccess::tape(value).get(),
                             detail::VariableAccess::slot(value).get());
  }

  template <class T, class G>
  void run(const BasicVariable<T>& value, const G& gradient, const BackwardOptions& options) {
    const NoRecordScope plain;
    const RedistributionScope moving(Redistribution::any);
    detail::VariableAccess::slot(value)->add(detail::copy_of(gradient));
    state_->run(options.retain);
  }

  std::shared_ptr<detail::TapeState> state_;
};

}  // namespace grad
}  // namespace tessera
