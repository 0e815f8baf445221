// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <tessera/redistribute/distribute_tensor.hpp>
#include <tessera/tensor/from_local.hpp>

/// Functional collectives on Views, for use inside local_map. Each takes this rank's View and
/// returns a new one (its type as redistribute's), and is collective over the ranks along
/// `mesh_dims` (one mesh dim or several, row-major in the order named) through the calling rank.
/// Each counts as one exchange. With an execution space instance first, work is ordered on it. Off
/// the mesh: an empty View. Errors: InvalidArgument for an unknown mesh dim, a tensor dim out of
/// range, an op the element type cannot reduce; MpiError.
namespace tessera {

namespace detail {

/// The tensor dim counted from the first. Errors: InvalidArgument.
int resolved_dim(int tensor_dim, std::size_t tensor_dims, const char* function);

Placements uniform(const DeviceMesh& mesh, Placement placement);

/// The ranks along `mesh_dims` through this one in one mesh dim.
DeviceMesh line(const DeviceMesh& mesh, const MeshDims& mesh_dims);

/// `array` with one more dim in front.
ArrayRef with_leading_dim(const ArrayRef& array, std::int64_t extent, std::int64_t stride);

template <class V>
auto collective(const Execution& execution, const V& view, const DeviceMesh& mesh,
                const DTensorSpec& from, const DTensorSpec& to, const char* operation,
                const char* function) {
  using Result = AllocatableView<V>;
  require_representable<Result>(to, function);
  auto result = allocate<Result>(local_piece(mesh, to).shape, operation);
  move_piece(execution, mesh, from, to, view, result, {}, operation, function);
  return result;
}

template <class V>
AllocatableView<V> all_reduce(const Execution& execution, const V& view, ReduceOp op,
                              const DeviceMesh& mesh) {
  if (!mesh.coordinate()) return {};
  const DTensorSpec from(mesh.layout(), uniform(mesh, Partial(op)), extents_of(view), {},
                         "all_reduce");
  return collective(execution, view, mesh, from,
                    with_placements(from, all_replicate(mesh), "all_reduce"), "tessera::all_reduce",
                    "all_reduce");
}

template <class V>
AllocatableView<V> all_gather(const Execution& execution, const V& view, int tensor_dim,
                              const DeviceMesh& mesh) {
  const int dim = resolved_dim(tensor_dim, V::rank(), "all_gather");
  if (!mesh.coordinate()) return {};
  const auto from = infer_spec(mesh, uniform(mesh, Shard(dim)), extents_of(view));
  return collective(execution, view, mesh, from,
                    with_placements(from, all_replicate(mesh), "all_gather"), "tessera::all_gather",
                    "all_gather");
}

template <class V>
AllocatableView<V> reduce_scatter(const Execution& execution, const V& view, ReduceOp op,
                                  int tensor_dim, const DeviceMesh& mesh) {
  const int dim = resolved_dim(tensor_dim, V::rank(), "reduce_scatter");
  if (!mesh.coordinate()) return {};
  const DTensorSpec from(mesh.layout(), uniform(mesh, Partial(op)), extents_of(view), {},
                         "reduce_scatter");
  return collective(execution, view, mesh, from,
                    with_placements(from, uniform(mesh, Shard(dim)), "reduce_scatter"),
                    "tessera::reduce_scatter", "reduce_scatter");
}

/// Specs of [rank, … View's dims …]: each rank's whole View, and everyone's chunk of `tensor_dim`.
///
/// Errors: InvalidArgument unless all Views, the pieces of `joined` along `tensor_dim`, are alike.
std::pair<DTensorSpec, DTensorSpec> chunk_specs(const DeviceMesh& mesh, const DTensorSpec& joined,
                                                int tensor_dim, const Extents& local_shape);

/// Errors: InvalidArgument for 8 dims, or a static extent that chunks of one size do not make.
void require_static_chunks(const Extents& static_extents, int tensor_dim, int ranks);

/// all_to_all along one dim: chunk i goes to rank i, and what arrives is joined in rank order.
template <class V>
AllocatableView<V> exchange_chunks(const Execution& execution, const V& view, int tensor_dim,
                                   const DeviceMesh& mesh, const DTensorSpec& joined) {
  using Result = AllocatableView<V>;
  const auto d = static_cast<std::size_t>(tensor_dim);
  require_static_chunks(static_extents<V>(), tensor_dim, mesh.size());
  const auto [from, to] = chunk_specs(mesh, joined, tensor_dim, extents_of(view));
  const auto chunk = to.piece(*mesh.coordinate()).shape[d + 1];
  auto shape = extents_of(view);
  shape[d] = chunk * mesh.size();
  const auto result = allocate<Result>(shape, "tessera::all_to_all");
  auto source = with_leading_dim(array_ref(view), 1, 1);
  auto destination = array_ref(result);
  destination.extents[d] = chunk;
  destination = with_leading_dim(destination, mesh.size(), chunk * destination.strides[d]);
  cached_redistributor(mesh, from, to, source.type, {}, "all_to_all")
      .execute(execution, source, destination, "tessera::all_to_all");
  return result;
}

template <class V>
AllocatableView<V> all_to_all(const Execution& execution, const V& view, int split_dim,
                              int concat_dim, const DeviceMesh& mesh) {
  const int split = resolved_dim(split_dim, V::rank(), "all_to_all");
  const int concat = resolved_dim(concat_dim, V::rank(), "all_to_all");
  if (!mesh.coordinate()) return {};
  const auto from = infer_spec(mesh, uniform(mesh, Shard(concat)), extents_of(view));
  if (split == concat) return exchange_chunks(execution, view, split, mesh, from);
  return collective(execution, view, mesh, from,
                    with_placements(from, uniform(mesh, Shard(split)), "all_to_all"),
                    "tessera::all_to_all", "all_to_all");
}

template <class V>
AllocatableView<V> broadcast_view(const Execution& execution, const V& view, int root,
                                  const DeviceMesh& mesh) {
  require_mesh_rank(mesh, root, "broadcast");
  return distribute_tensor(execution, view, mesh, all_replicate(mesh), Distribute{.src_rank = root},
                           "tessera::broadcast")
      .to_local();
}

}  // namespace detail

/// The reduction of the Views, which have the same extents, on every rank; combined by the fixed
/// tree in the order of the ranks.
template <detail::AnyView V>
auto all_reduce(const V& view, ReduceOp op, const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::all_reduce(Execution(), view, op, detail::line(mesh, mesh_dims));
}
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec>
auto all_reduce(const Exec& exec, const V& view, ReduceOp op, const DeviceMesh& mesh,
                const MeshDims& mesh_dims) {
  return detail::all_reduce(Execution(exec), view, op, detail::line(mesh, mesh_dims));
}

/// The Views one after another along `tensor_dim`, on every rank; their extents there may differ
/// (sizes travel as metadata).
template <detail::AnyView V>
auto all_gather(const V& view, int tensor_dim, const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::all_gather(Execution(), view, tensor_dim, detail::line(mesh, mesh_dims));
}
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec>
auto all_gather(const Exec& exec, const V& view, int tensor_dim, const DeviceMesh& mesh,
                const MeshDims& mesh_dims) {
  return detail::all_gather(Execution(exec), view, tensor_dim, detail::line(mesh, mesh_dims));
}

/// This rank's chunk along `tensor_dim` of the reduction of the Views, which have the same extents.
template <detail::AnyView V>
auto reduce_scatter(const V& view, ReduceOp op, int tensor_dim, const DeviceMesh& mesh,
                    const MeshDims& mesh_dims) {
  return detail::reduce_scatter(Execution(), view, op, tensor_dim, detail::line(mesh, mesh_dims));
}
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec>
auto reduce_scatter(const Exec& exec, const V& view, ReduceOp op, int tensor_dim,
                    const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::reduce_scatter(Execution(exec), view, op, tensor_dim,
                                detail::line(mesh, mesh_dims));
}

/// Cuts each View into chunks along `split_dim`, sends chunk i to rank i, and joins what arrives
/// along `concat_dim`. Extents along `concat_dim` may differ (sizes travel as metadata) unless it
/// is `split_dim` too.
template <detail::AnyView V>
auto all_to_all(const V& view, int split_dim, int concat_dim, const DeviceMesh& mesh,
                const MeshDims& mesh_dims) {
  return detail::all_to_all(Execution(), view, split_dim, concat_dim,
                            detail::line(mesh, mesh_dims));
}
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec>
auto all_to_all(const Exec& exec, const V& view, int split_dim, int concat_dim,
                const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::all_to_all(Execution(exec), view, split_dim, concat_dim,
                            detail::line(mesh, mesh_dims));
}

/// The View of `root`, a position along `mesh_dims`, on every rank; the other Views are not looked
/// at (the shape travels as metadata).
template <detail::AnyView V>
auto broadcast(const V& view, int root, const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::broadcast_view(Execution(), view, root, detail::line(mesh, mesh_dims));
}
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec>
auto broadcast(const Exec& exec, const V& view, int root, const DeviceMesh& mesh,
               const MeshDims& mesh_dims) {
  return detail::broadcast_view(Execution(exec), view, root, detail::line(mesh, mesh_dims));
}

}  // namespace tessera
