// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/grad/movement.hpp>
#include <tessera/grad/pending.hpp>
#include <tessera/redistribute/redistribute.hpp>

/// grad::redistribute() also moves variables from one mesh to another, and
/// grad::redistribute_async() does so in the background.
namespace tessera {

namespace detail {

/// Returns the spec of the gradient of a tensor that was redistributed from mesh `source` to
/// `target`, on all ranks of both. `mine` is that spec on the ranks of `source`. Collective over
/// both meshes.
DTensorSpec gradient_spec_on(const DeviceMesh& source, const DeviceMesh& target,
                             const DTensorSpec& mine);

/// Records the result of a redistribution to `mesh`.
template <class V, class Y>
grad::BasicVariable<Y> recorded_across(const grad::Variable<V>& variable, const DeviceMesh& mesh,
                                       const Y& y) {
  const auto tape = tape_of(variable);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, "redistribute", variable, Keep::nothing);
  return recorded(tape, y, [input, mesh](const auto& dy) {
    const auto& form = input.form();
    const Target target(gradient_spec_on(form.mesh, mesh, form.spec));
    input.add(tessera::redistribute<redistributed_view_t<V>>(dy, form.mesh, target));
  });
}

}  // namespace detail

namespace grad {

/// Redistributes a variable to another mesh, see tessera::redistribute(). The gradient goes back to
/// the placements of `variable`, with Replicate for Partial, and to its element type.
///
/// A rank that is on `mesh` alone passes a variable of the empty tensor that it has. A rank that is
/// on the mesh of `variable` alone gets a variable of an empty tensor. All ranks of both meshes
/// call backward(): with this result, or with what all of them have computed of it.
///
/// Collective: over the ranks of both meshes; the backward pass too.
template <class Out = void, LocalView V>
Variable<redistributed_view_t<V, Out>> redistribute(const Variable<V>& variable,
                                                    const DeviceMesh& mesh,
                                                    const Target& target = all_replicate,
                                                    const RedistributeOptions& options = {}) {
  return detail::recorded_across(
      variable, mesh, tessera::redistribute<Out>(variable.detach(), mesh, target, options));
}

/// Starts redistribute() in the background, see tessera::redistribute_async(). Its adjoint is not
/// in the background.
/// Collective: as tessera::redistribute_async(); the backward pass over the mesh.
template <class Out = void, LocalView V>
PendingVariable<DTensor<redistributed_view_t<V, Out>>> redistribute_async(
    const Variable<V>& variable, const Target& target = all_replicate,
    const RedistributeOptions& options = {}) {
  using Y = DTensor<redistributed_view_t<V, Out>>;
  return {tessera::redistribute_async<Out>(variable.detach(), target, options),
          [variable](const Y& y) {
            return detail::recorded_across(variable, variable.device_mesh(), y);
          }};
}
/// Starts redistribute() to another mesh.
template <class Out = void, LocalView V>
PendingVariable<DTensor<redistributed_view_t<V, Out>>> redistribute_async(
    const Variable<V>& variable, const DeviceMesh& mesh, const Target& target = all_replicate,
    const RedistributeOptions& options = {}) {
  using Y = DTensor<redistributed_view_t<V, Out>>;
  return {tessera::redistribute_async<Out>(variable.detach(), mesh, target, options),
          [variable, mesh](const Y& y) { return detail::recorded_across(variable, mesh, y); }};
}

}  // namespace grad
}  // namespace tessera
