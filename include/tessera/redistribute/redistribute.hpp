// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/redistribute/detail/redistribution.hpp>
#include <tessera/redistribute/pending.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

/// The same global values under other placements. The general form is
/// redistribute<Out>([exec,] tensor, target, options).
///
/// `target` is a list of placements (boundaries stay where a tensor dim is split by the same mesh
/// dims in the same order, else the chunk rule) or a spec with boundaries of its own. All
/// transitions between Shard, Replicate and Partial, even or not, in at most two exchanges; in more
/// where those cost less: with many peers, or on several nodes.
///
/// Result:     DTensor<V> with exactly V where V is managed, non-const and LayoutLeft or
///             LayoutRight; otherwise const and unmanaged are dropped and LayoutStride becomes
///             LayoutRight. Out asks for another View type. If the spec stays and the result has
///             type V, it is the same memory.
/// Collective: over the mesh. With an execution space instance, work is ordered on it and not
///             fenced at the end; without, there is a global fence before and the result is
///             complete. Off the mesh: an empty tensor.
/// Errors:     InvalidArgument for placements that do not fit mesh and tensor, an op the element
///             type cannot reduce, a static extent that would change; MeshMismatch for a spec on
///             another mesh; MpiError. On every rank, see collectively().
template <class Out = void, class V>
auto redistribute(const DTensor<V>& tensor, const DTensorSpec& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, target, options, "redistribute");
}
/// The same to placements.
template <class Out = void, class V>
auto redistribute(const DTensor<V>& tensor, const Placements& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, target, options, "redistribute");
}
/// The same to a spec, ordered on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute(const Exec& exec, const DTensor<V>& tensor, const DTensorSpec& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(exec), tensor, target, options, "redistribute");
}
/// The same to placements, ordered on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute(const Exec& exec, const DTensor<V>& tensor, const Placements& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(exec), tensor, target, options, "redistribute");
}

/// The same values on another mesh, which may have other ranks, some or none of the tensor's: the
/// general form is redistribute<Out>([exec,] tensor, mesh, target, options). On the tensor's own
/// mesh it is redistribute(tensor, target). `target` is a spec on `mesh`, or placements there, with
/// the chunk rule.
///
/// A rank that is on `mesh` alone passes the (empty) tensor that it has from the call that made it;
/// the spec it learns here.
///
/// Collective: over the ranks of both meshes, which belong to one user communicator. Off both: an
///             empty tensor.
/// Errors:     as redistribute; MeshMismatch for a spec on a third mesh, or meshes of two
///             communicators; InvalidArgument for a tensor without a mesh, on this rank alone.
template <class Out = void, class V>
auto redistribute(const DTensor<V>& tensor, const DeviceMesh& mesh, const DTensorSpec& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, mesh, target, options);
}
/// The same to placements on `mesh`.
template <class Out = void, class V>
auto redistribute(const DTensor<V>& tensor, const DeviceMesh& mesh, const Placements& target,
                  const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(), tensor, mesh, target, options);
}
/// The same to a spec on `mesh`, ordered on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute(const Exec& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
                  const DTensorSpec& target, const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(exec), tensor, mesh, target, options);
}
/// The same to placements on `mesh`, ordered on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute(const Exec& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
                  const Placements& target, const RedistributeOptions& options = {}) {
  return detail::redistribute<Out>(Execution(exec), tensor, mesh, target, options);
}

/// redistribute() in the background: [exec,] tensor, [mesh,] target, options as there. Returns a
/// `Pending<DTensor<…>>`, see there; with an execution space instance, what Pending::wait() returns
/// is ordered on it.
///
/// Collective as redistribute: to start, and to wait. To start it to a mesh with other ranks waits
/// for mesh rank 0 of the source, which tells them the spec. Errors: as redistribute, also from the
/// call.
template <class Out = void, class V>
auto redistribute_async(const DTensor<V>& tensor, const DTensorSpec& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, target, options);
}
/// The same to placements.
template <class Out = void, class V>
auto redistribute_async(const DTensor<V>& tensor, const Placements& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, target, options);
}
/// The same to a spec on `mesh`.
template <class Out = void, class V>
auto redistribute_async(const DTensor<V>& tensor, const DeviceMesh& mesh, const DTensorSpec& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, mesh, target, options);
}
/// The same to placements on `mesh`.
template <class Out = void, class V>
auto redistribute_async(const DTensor<V>& tensor, const DeviceMesh& mesh, const Placements& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(), tensor, mesh, target, options);
}
/// The same to a spec, ordered on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_async(const Exec& exec, const DTensor<V>& tensor, const DTensorSpec& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(exec), tensor, target, options);
}
/// The same to placements, ordered on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_async(const Exec& exec, const DTensor<V>& tensor, const Placements& target,
                        const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(exec), tensor, target, options);
}
/// The same to a spec on `mesh`, ordered on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_async(const Exec& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
                        const DTensorSpec& target, const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(exec), tensor, mesh, target, options);
}
/// The same to placements on `mesh`, ordered on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_async(const Exec& exec, const DTensor<V>& tensor, const DeviceMesh& mesh,
                        const Placements& target, const RedistributeOptions& options = {}) {
  return detail::redistribute_async<Out>(Execution(exec), tensor, mesh, target, options);
}

/// redistribute into the memory of `destination`, whose spec is the target. The two tensors do not
/// overlap unless they are the same.
///
/// Collective over the mesh. Errors: as redistribute; MeshMismatch for tensors on different meshes;
/// InvalidArgument for shapes that differ.
template <class W, class V>
void redistribute_into(const DTensor<W>& destination, const DTensor<V>& tensor,
                       const RedistributeOptions& options = {}) {
  detail::redistribute_into(Execution(), destination, tensor, options);
}
/// The same, ordered on `exec`.
template <class Exec, class W, class V>
requires Kokkos::is_execution_space_v<Exec>
void redistribute_into(const Exec& exec, const DTensor<W>& destination, const DTensor<V>& tensor,
                       const RedistributeOptions& options = {}) {
  detail::redistribute_into(Execution(exec), destination, tensor, options);
}

/// How many bytes of results a mesh keeps, on this rank, to give them out again: a result of
/// redistribute() has the memory of the last one of the same plan if nobody holds that any more.
/// At first 512 MiB, the results used last; 0: none. They are freed with the mesh. Local.
///
/// Errors: InvalidArgument below 0.
void set_recycling(const DeviceMesh& mesh, std::int64_t bytes);

/// Reduces every Partial to Replicate; other placements stay. Collective over the mesh. Errors: as
/// redistribute.
template <class V>
auto reduce_partial(const DTensor<V>& tensor) {
  return detail::reduce_partial(Execution(), tensor);
}
/// The same, ordered on `exec`.
template <class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto reduce_partial(const Exec& exec, const DTensor<V>& tensor) {
  return detail::reduce_partial(Execution(exec), tensor);
}

/// The whole tensor as a View on every rank of the mesh (its own memory if it was all Replicate).
/// Collective over the mesh.
///
/// Errors: as redistribute.
template <class V>
auto full_tensor(const DTensor<V>& tensor) {
  return detail::full_tensor(Execution(), tensor);
}
/// The same, ordered on `exec`.
template <class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto full_tensor(const Exec& exec, const DTensor<V>& tensor) {
  return detail::full_tensor(Execution(exec), tensor);
}

/// The whole tensor as a View on one mesh rank; an empty View on the others. Collective over the
/// mesh.
///
/// Errors: InvalidArgument for a rank off the mesh; as redistribute.
template <class V>
auto gather_to(const DTensor<V>& tensor, int mesh_rank) {
  return detail::gather_to(Execution(), tensor, mesh_rank);
}
/// The same, ordered on `exec`.
template <class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto gather_to(const Exec& exec, const DTensor<V>& tensor, int mesh_rank) {
  return detail::gather_to(Execution(exec), tensor, mesh_rank);
}

}  // namespace tessera
