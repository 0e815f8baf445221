// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/redistribute/detail/misuse.hpp>
#include <tessera/redistribute/detail/redistribution.hpp>
#include <tessera/redistribute/options.hpp>
#include <tessera/redistribute/pending.hpp>
#include <tessera/sharding/target.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

/// Returns a tensor with the same global values under another distribution.
///
/// With placements as the target, boundaries stay where Shard splits a tensor dim by the same mesh
/// dims in the same order, else the rules of the placements hold; a spec and Sizes have boundaries
/// of their own. Without a target every rank gets all values. All transitions between shardings,
/// Replicate and Partial, even or not, take at most two exchanges; more only if they cost less:
/// with many peers, or on several nodes.
///
/// Result:     View type Out, if that is given, else see redistributed_view_t. Out may have another
///             element type: values are converted as by to(), before they travel if Out's elements are
///             smaller, and after a reduction. If the result has type V, and every rank holds the
///             same bytes under the target, it is the same memory.
/// Collective: over the mesh. With an execution space instance, work is ordered on it and not
///             fenced at the end; without one, there is a global fence before, and the result is
///             complete. Off the mesh: an empty tensor.
/// Errors:     InvalidArgument for placements that do not fit mesh and tensor, an op the element
///             type cannot reduce, a static extent that would change; MeshMismatch for a spec on
///             another mesh; MpiError. All ranks throw, see collectively().
template <class Out = void, LocalView V>
DTensor<redistributed_view_t<V, Out>> redistribute(const DTensor<V>& tensor,
                                                   const Target& target = all_replicate,
                                                   const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, target, options, "redistribute");
}
/// Orders the work on `exec`.
template <class Out = void, LocalView V>
DTensor<redistributed_view_t<V, Out>> redistribute(const Execution& exec, const DTensor<V>& tensor,
                                                   const Target& target = all_replicate,
                                                   const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(exec, tensor, target, options, "redistribute");
}

/// Returns a tensor with the same values on another mesh, which may have other ranks, some of the
/// tensor's ranks, or none of them. On the tensor's own mesh it is redistribute(tensor, target). A
/// spec as the target is one on `mesh`; for placements their rules hold.
///
/// A rank that is on `mesh` alone passes the (empty) tensor that it has from the call that made it;
/// it learns the spec in this call.
///
/// Collective: over the ranks of both meshes, which belong to one user communicator. Off both: an
///             empty tensor.
/// Errors:     those of redistribute() on one mesh; MeshMismatch for a spec on a third mesh, or
///             meshes of two communicators; InvalidArgument for a tensor without a mesh, on this
///             rank alone.
template <class Out = void, LocalView V>
DTensor<redistributed_view_t<V, Out>> redistribute(const DTensor<V>& tensor, const DeviceMesh& mesh,
                                                   const Target& target = all_replicate,
                                                   const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, mesh, target, options);
}
/// Orders the work on `exec`.
template <class Out = void, LocalView V>
DTensor<redistributed_view_t<V, Out>> redistribute(const Execution& exec, const DTensor<V>& tensor,
                                                   const DeviceMesh& mesh,
                                                   const Target& target = all_replicate,
                                                   const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(exec, tensor, mesh, target, options);
}

/// Starts redistribute() in the background, with its arguments. With an execution space instance,
/// the tensor that Pending::wait() returns is ordered on it.
///
/// Collective over the ranks of redistribute(), both to start and to wait. Starting a
/// redistribution to a mesh with other ranks waits for mesh rank 0 of the source, which tells them
/// the spec. Errors: those of redistribute(); this call may throw them, too.
template <class Out = void, LocalView V>
Pending<DTensor<redistributed_view_t<V, Out>>> redistribute_async(
    const DTensor<V>& tensor, const Target& target = all_replicate,
    const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, target, options);
}
/// Orders the work on `exec`.
template <class Out = void, LocalView V>
Pending<DTensor<redistributed_view_t<V, Out>>> redistribute_async(
    const Execution& exec, const DTensor<V>& tensor, const Target& target = all_replicate,
    const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(exec, tensor, target, options);
}
/// Starts redistribute() to another mesh.
template <class Out = void, LocalView V>
Pending<DTensor<redistributed_view_t<V, Out>>> redistribute_async(
    const DTensor<V>& tensor, const DeviceMesh& mesh, const Target& target = all_replicate,
    const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, mesh, target, options);
}
/// Starts redistribute() to another mesh, and orders the work on `exec`.
template <class Out = void, LocalView V>
Pending<DTensor<redistributed_view_t<V, Out>>> redistribute_async(
    const Execution& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
    const Target& target = all_replicate, const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(exec, tensor, mesh, target, options);
}

/// Redistributes into the memory of `destination`, whose spec is the target: it becomes
/// options.alpha times the tensor plus options.beta times what it was. The element types may differ;
/// then values are converted as by to(), and scaled in the type of the destination.
///
/// The tensors may share memory. Then the source is copied first, as far as options.extra_memory
/// allows, unless the redistribution can run in place: an all-reduce into the same View can.
///
/// Example: redistribute_into(y, x, {.alpha = 2, .beta = 1}) adds 2 x to y.
/// Collective over the mesh. Errors: those of redistribute(); MeshMismatch for tensors on different
/// meshes; InvalidArgument for shapes that differ, for a destination whose own elements share
/// memory (a stride of 0), for a copy that takes more than the extra memory, and for factors other
/// than 1 and 0 that elements of the type cannot be multiplied by, or of a P(max), P(min) or product.
template <LocalView W, LocalView V>
void redistribute_into(const DTensor<W>& destination, const DTensor<V>& tensor,
                       const IntoOptions& options = {}) {
  detail::redistribute_into(Execution(), destination, tensor, options);
}
/// Orders the work on `exec`.
template <LocalView W, LocalView V>
void redistribute_into(const Execution& exec, const DTensor<W>& destination,
                       const DTensor<V>& tensor, const IntoOptions& options = {}) {
  detail::redistribute_into(exec, destination, tensor, options);
}

/// Sets how many bytes of results a mesh keeps on this rank to give them out again: a result of
/// redistribute() takes the memory of the last result of the same plan, if nobody holds that result
/// any more. The default is 512 MiB; the results used last are kept. 0 keeps none. They are freed
/// with the mesh. Local.
///
/// Errors: InvalidArgument below 0.
void set_recycling(const DeviceMesh& mesh, std::int64_t bytes);

/// Reduces every Partial to Replicate; other placements stay. Collective over the mesh. Errors:
/// those of redistribute().
template <LocalView V>
DTensor<redistributed_view_t<V>> reduce_partial(const DTensor<V>& tensor) {
  return detail::reduce_partial(Execution(), tensor);
}
/// Orders the work on `exec`.
template <LocalView V>
DTensor<redistributed_view_t<V>> reduce_partial(const Execution& exec, const DTensor<V>& tensor) {
  return detail::reduce_partial(exec, tensor);
}

/// Returns the full tensor as a View on every rank of the mesh (the tensor's own memory if it was
/// all Replicate). Collective over the mesh.
///
/// Errors: those of redistribute().
template <LocalView V>
redistributed_view_t<V> full_tensor(const DTensor<V>& tensor) {
  return detail::full_tensor(Execution(), tensor);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> full_tensor(const Execution& exec, const DTensor<V>& tensor) {
  return detail::full_tensor(exec, tensor);
}

/// Returns the full tensor as a View on one mesh rank, and an empty View on the other ranks.
/// Collective over the mesh.
///
/// Errors: InvalidArgument for a rank off the mesh; those of redistribute().
template <LocalView V>
redistributed_view_t<V> gather_to(const DTensor<V>& tensor, int mesh_rank) {
  return detail::gather_to(Execution(), tensor, mesh_rank);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> gather_to(const Execution& exec, const DTensor<V>& tensor, int mesh_rank) {
  return detail::gather_to(exec, tensor, mesh_rank);
}

}  // namespace tessera
