// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/from_local.hpp>
#include <tessera/tensor/permute.hpp>

// Functions that move variables between ranks, and between tensors and Views. What a function sends, its
// adjoint sends back.
namespace tessera {

namespace detail {

/// Returns the spec that the gradient has which from_local() passes on, and the factor of each local
/// gradient: placements given; or those of the tensor with Replicate for Partial, where averages divide by the
/// number of ranks. Errors: InvalidArgument for P(min), P(max) and P(product) without placements.
std::pair<DTensorSpec, double> from_local_gradient(const DTensorSpec& spec,
                                                   const std::optional<Placements>& placements);

/// Returns the local piece of a tensor; a copy where its View does not own the memory.
template <LocalView V>
auto piece_in_own_memory(const DTensor<V>& tensor) {
  if constexpr (V::traits::memory_traits::is_unmanaged)
    return clone(tensor).to_local();
  else
    return tensor.to_local();
}

/// Records that `tensor` was made of the View of a variable.
template <LocalView V>
grad::Variable<V> recorded_from_local(const grad::LocalVariable<V>& variable,
                                      const DTensor<V>& tensor,
                                      const std::optional<Placements>& placements) {
  const auto [spec, factor] =
      named("from_local", [&] { return from_local_gradient(tensor.spec(), placements); });
  const auto tape = tape_of(variable);
  if (!tape) return unrecorded(tensor);
  const auto input = input_of(*tape, "from_local", variable, Keep::nothing);
  return recorded(tape, tensor, [input, spec = spec, factor = factor](const auto& dy) {
    const auto gradient = tessera::redistribute<redistributed_view_t<V>>(dy, Target(spec));
    if (!gradient.device_mesh().coordinate()) return;
    if (factor == 1)
      input.add(gradient.to_local());
    else
      input.add(ops::multiply(gradient.to_local(), factor));
  });
}

}  // namespace detail

namespace grad {

/// Says what the gradient of a local View is a part of.
struct LocalOptions {
  /// The placements of the tensor whose local piece the gradient is. Left out, those of the value with
  /// Replicate for Partial.
  std::optional<Placements> grad_placements = {};
};

/// Redistributes a variable, see tessera::redistribute(). The gradient goes back to the placements of
/// `variable`, with Replicate for Partial, and to its element type.
/// Collective: over the mesh; the backward pass too.
template <class Out = void, LocalView V>
Variable<redistributed_view_t<V, Out>> redistribute(const Variable<V>& variable,
                                                    const Target& target = all_replicate,
                                                    const RedistributeOptions& options = {}) {
  const auto y = tessera::redistribute<Out>(variable.detach(), target, options);
  const auto tape = detail::tape_of(variable);
  if (!tape) return detail::unrecorded(y);
  const auto input = detail::input_of(*tape, "redistribute", variable, detail::Keep::nothing);
  return detail::recorded(tape, y, [input](const auto& dy) {
    input.add(tessera::redistribute<redistributed_view_t<V>>(dy, Target(input.form().spec)));
  });
}

/// Names the View type of the local piece of a Variable<V>: V if that owns its memory.
template <LocalView V>
using local_piece_t =
    std::conditional_t<V::traits::memory_traits::is_unmanaged, redistributed_view_t<V>, V>;

/// Returns the local piece of a variable; a copy where a View does not own its memory, as that of a transposed
/// variable. The gradient of that is a local piece of a tensor with
/// options.grad_placements: Partial() where ranks hold different contributions to the gradient of
/// replicated values.
/// Local. Errors: InvalidArgument, in the backward pass, for a gradient whose shape is not that of a
/// local piece under the placements.
template <LocalView V>
LocalVariable<local_piece_t<V>> to_local(const Variable<V>& variable,
                                         const LocalOptions& options = {}) {
  const auto& tensor = variable.detach();
  const auto piece = detail::piece_in_own_memory(tensor);
  const auto spec = detail::named(
      "to_local", [&] { return detail::gradient_spec(tensor.spec(), options.grad_placements); });
  const auto tape = detail::tape_of(variable);
  if (!tape) return detail::unrecorded(piece);
  const auto input = detail::input_of(*tape, "to_local", variable, detail::Keep::nothing);
  return detail::recorded(tape, piece, [input, spec](const auto& dy) {
    input.add(tessera::from_local(dy, input.form().mesh, Target(spec), spec.shape()));
  });
}

/// Returns the whole tensor on every rank, see tessera::full_tensor(). For the gradient see to_local().
/// Collective: over the mesh; the backward pass too.
template <LocalView V>
LocalVariable<redistributed_view_t<V>> full_tensor(const Variable<V>& variable,
                                                   const LocalOptions& options = {}) {
  return grad::to_local(grad::redistribute(variable), options);
}

/// Makes a tensor of local Views, see tessera::from_local(). The gradient of the tensor is
/// redistributed to options.grad_placements; left out, Shard stays, Replicate and P(sum) get the whole
/// gradient, and P(avg) gets it divided by the number of ranks. Its local piece is the gradient of the View.
/// Collective: as tessera::from_local(); the backward pass over the mesh.
/// Errors: those of tessera::from_local(); InvalidArgument for P(min), P(max) and P(product) without
///         grad_placements.
template <LocalView V>
Variable<V> from_local(const LocalVariable<V>& variable, const DeviceMesh& mesh,
                       const Target& target, const LocalOptions& options = {}) {
  return detail::recorded_from_local(variable, tessera::from_local(variable.detach(), mesh, target),
                                     options.grad_placements);
}
/// Makes the tensor of global shape `shape`, without communication.
template <LocalView V>
Variable<V> from_local(const LocalVariable<V>& variable, const DeviceMesh& mesh,
                       const Target& target, const Extents& shape,
                       const LocalOptions& options = {}) {
  return detail::recorded_from_local(variable,
                                     tessera::from_local(variable.detach(), mesh, target, shape),
                                     options.grad_placements);
}

}  // namespace grad
}  // namespace tessera
