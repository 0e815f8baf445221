// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/redistribute/detail/redistribution.hpp>
#include <tessera/redistribute/pending.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

/// Returns a tensor with the same global values under other placements. The general form is
/// redistribute<Out>([exec,] tensor, target, options).
///
/// `target` is a list of placements (boundaries stay where a tensor dim is split by the same mesh
/// dims in the same order, else the chunk rule holds) or a spec with boundaries of its own. All
/// transitions between Shard, Replicate and Partial, even or not, take at most two exchanges; more
/// only if they cost less: with many peers, or on several nodes.
///
/// Result:     DTensor<V> with exactly V if V is managed, non-const and LayoutLeft or LayoutRight;
///             otherwise const and unmanaged are dropped and LayoutStride becomes LayoutRight. Out
///             asks for another View type. If the spec stays and the result has type V, it is the
///             same memory.
/// Collective: over the mesh. With an execution space instance, work is ordered on it and not
///             fenced at the end; without one, there is a global fence before, and the result is
///             complete. Off the mesh: an empty tensor.
/// Errors:     InvalidArgument for placements that do not fit mesh and tensor, an op the element
///             type cannot reduce, a static extent that would change; MeshMismatch for a spec on
///             another mesh; MpiError. All ranks throw, see collectively().
template <class Out = void, class V>
auto redistribute(const DTensor<V>& tensor, const DTensorSpec& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, target, options, "redistribute");
}
/// Takes placements as the target.
template <class Out = void, class V>
auto redistribute(const DTensor<V>& tensor, const Placements& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, target, options, "redistribute");
}
/// Takes a spec as the target, and orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute(const Exec& exec, const DTensor<V>& tensor, const DTensorSpec& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(exec), tensor, target, options, "redistribute");
}
/// Takes placements as the target, and orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute(const Exec& exec, const DTensor<V>& tensor, const Placements& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(exec), tensor, target, options, "redistribute");
}

/// Returns a tensor with the same values on another mesh, which may have other ranks, some of the
/// tensor's ranks, or none of them. The general form is redistribute<Out>([exec,] tensor, mesh,
/// target, options). On the tensor's own mesh it is redistribute(tensor, target). `target` is a
/// spec on `mesh`, or placements there, with the chunk rule.
///
/// A rank that is on `mesh` alone passes the (empty) tensor that it has from the call that made it;
/// it learns the spec in this call.
///
/// Collective: over the ranks of both meshes, which belong to one user communicator. Off both: an
///             empty tensor.
/// Errors:     those of redistribute() on one mesh; MeshMismatch for a spec on a third mesh, or
///             meshes of two communicators; InvalidArgument for a tensor without a mesh, on this
///             rank alone.
template <class Out = void, class V>
auto redistribute(const DTensor<V>& tensor, const DeviceMesh& mesh, const DTensorSpec& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, mesh, target, options);
}
/// Takes placements on `mesh` as the target.
template <class Out = void, class V>
auto redistribute(const DTensor<V>& tensor, const DeviceMesh& mesh, const Placements& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, mesh, target, options);
}
/// Takes a spec on `mesh` as the target, and orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute(const Exec& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
                  const DTensorSpec& target, const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(exec), tensor, mesh, target, options);
}
/// Takes placements on `mesh` as the target, and orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute(const Exec& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
                  const Placements& target, const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(exec), tensor, mesh, target, options);
}

/// Starts redistribute() in the background, with its arguments: [exec,] tensor, [mesh,] target,
/// options. Returns a `Pending<DTensor<…>>`, see there. With an execution space instance, the
/// tensor that Pending::wait() returns is ordered on it.
///
/// Collective over the ranks of redistribute(), both to start and to wait. Starting a
/// redistribution to a mesh with other ranks waits for mesh rank 0 of the source, which tells them
/// the spec. Errors: those of redistribute(); this call may throw them, too.
template <class Out = void, class V>
auto redistribute_async(const DTensor<V>& tensor, const DTensorSpec& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, target, options);
}
/// Takes placements as the target.
template <class Out = void, class V>
auto redistribute_async(const DTensor<V>& tensor, const Placements& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, target, options);
}
/// Takes a spec on `mesh` as the target.
template <class Out = void, class V>
auto redistribute_async(const DTensor<V>& tensor, const DeviceMesh& mesh, const DTensorSpec& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, mesh, target, options);
}
/// Takes placements on `mesh` as the target.
template <class Out = void, class V>
auto redistribute_async(const DTensor<V>& tensor, const DeviceMesh& mesh, const Placements& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, mesh, target, options);
}
/// Takes a spec as the target, and orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_async(const Exec& exec, const DTensor<V>& tensor, const DTensorSpec& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(exec), tensor, target, options);
}
/// Takes placements as the target, and orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_async(const Exec& exec, const DTensor<V>& tensor, const Placements& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(exec), tensor, target, options);
}
/// Takes a spec on `mesh` as the target, and orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_async(const Exec& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
                        const DTensorSpec& target, const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(exec), tensor, mesh, target, options);
}
/// Takes placements on `mesh` as the target, and orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_async(const Exec& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
                        const Placements& target, const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(exec), tensor, mesh, target, options);
}

/// Redistributes into the memory of `destination`, whose spec is the target. The two tensors do not
/// overlap unless they are the same.
///
/// Collective over the mesh. Errors: those of redistribute(); MeshMismatch for tensors on different
/// meshes; InvalidArgument for shapes that differ.
template <class W, class V>
void redistribute_into(const DTensor<W>& destination, const DTensor<V>& tensor,
                       const RedistributeOptions& options = {}) {
  detail::redistribute_into(Execution(), destination, tensor, options);
}
/// Orders the work on `exec`.
template <class Exec, class W, class V>
requires Kokkos::is_execution_space_v<Exec>
void redistribute_into(const Exec& exec, const DTensor<W>& destination, const DTensor<V>& tensor,
                       const RedistributeOptions& options = {}) {
  detail::redistribute_into(Execution(exec), destination, tensor, options);
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
template <class V>
auto reduce_partial(const DTensor<V>& tensor) {
  return detail::reduce_partial(Execution(), tensor);
}
/// Orders the work on `exec`.
template <class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto reduce_partial(const Exec& exec, const DTensor<V>& tensor) {
  return detail::reduce_partial(Execution(exec), tensor);
}

/// Returns the full tensor as a View on every rank of the mesh (the tensor's own memory if it was
/// all Replicate). Collective over the mesh.
///
/// Errors: those of redistribute().
template <class V>
auto full_tensor(const DTensor<V>& tensor) {
  return detail::full_tensor(Execution(), tensor);
}
/// Orders the work on `exec`.
template <class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto full_tensor(const Exec& exec, const DTensor<V>& tensor) {
  return detail::full_tensor(Execution(exec), tensor);
}

/// Returns the full tensor as a View on one mesh rank, and an empty View on the other ranks.
/// Collective over the mesh.
///
/// Errors: InvalidArgument for a rank off the mesh; those of redistribute().
template <class V>
auto gather_to(const DTensor<V>& tensor, int mesh_rank) {
  return detail::gather_to(Execution(), tensor, mesh_rank);
}
/// Orders the work on `exec`.
template <class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto gather_to(const Exec& exec, const DTensor<V>& tensor, int mesh_rank) {
  return detail::gather_to(Execution(exec), tensor, mesh_rank);
}

}  // namespace tessera
