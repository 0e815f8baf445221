// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>

namespace tessera {

struct Distribute {
  int src_rank = 0;        ///< mesh rank whose data is taken
  bool each_rank = false;  ///< every rank has the data and takes its own slice: no communication
};

namespace detail {

/// The extents of the View on mesh rank `root`, everywhere; metadata. Collective over the mesh.
Extents shape_on(const DeviceMesh& mesh, int root, const Extents& mine, const char* operation);

/// Checks the arguments that all ranks see; placements of a tensor with as many dims as the View.
void require_distributable(const DeviceMesh& mesh, const Placements& placements, int src_rank);

template <class V>
auto distribute_tensor(const Execution& execution, const V& view, const DeviceMesh& mesh,
                       const Placements& placements, const Distribute& options,
                       const char* operation = "tessera::distribute_tensor") {
  using Result = AllocatableView<V>;
  constexpr const char* function = "distribute_tensor";
  require_distributable(mesh, placements, options.src_rank);
  Extents shape = extents_of(view);
  if (!options.each_rank && mesh.coordinate())
    shape = shape_on(mesh, options.src_rank, shape, operation);
  const DTensorSpec target(mesh.layout(), placements, shape, {}, function);
  require_representable<Result>(target, function);
  auto result = allocate_dtensor<Result>(mesh, target, operation);
  if (!mesh.coordinate()) return result;
  auto source = array_ref(view);
  auto destination = array_ref(result.to_local());
  auto move = [&](const DTensorSpec& from, const DTensorSpec& to) {
    cached_redistributor(mesh, from, to, source.type, {}, function)
        .execute(execution, source, destination, operation);
  };
  if (options.each_rank) {
    move(DTensorSpec(mesh.layout(), all_replicate(mesh), shape), target);
  } else if (V::rank() > 0) {
    if (mesh.rank() != options.src_rank) source.extents = Extents::filled(V::rank(), 0);
    move(whole_on(mesh.layout(), shape, options.src_rank), target);
  } else {
    source.extents = {mesh.rank() == options.src_rank ? 1 : 0};
    destination.extents = {1};
    source.strides = destination.strides = {1};
    move(whole_on(mesh.layout(), {1}, options.src_rank),
         DTensorSpec(mesh.layout(), all_replicate(mesh), {1}));
  }
  return result;
}

}  // namespace detail

/// Distributes the data of mesh rank options.src_rank, in one exchange. The View of that rank alone
/// needs extents.
///
/// With options.each_rank every rank has the whole data and keeps its slice: no communication.
/// Placements left out: all Replicate. The result has memory of its own, in a View type as
/// redistribute's. Off the mesh it is empty. Collective over the mesh: the shape is broadcast
/// (metadata), then one exchange. Errors: InvalidArgument for a Partial, placements that do not
/// fit, a src_rank off the mesh; the same on every rank.
template <detail::AnyView V>
auto distribute_tensor(const V& view, const DeviceMesh& mesh, const Placements& placements,
                       const Distribute& options = {}) {
  return detail::distribute_tensor(Execution(), view, mesh, placements, options);
}
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec>
auto distribute_tensor(const Exec& exec, const V& view, const DeviceMesh& mesh,
                       const Placements& placements, const Distribute& options = {}) {
  return detail::distribute_tensor(Execution(exec), view, mesh, placements, options);
}

template <detail::AnyView V>
auto distribute_tensor(const V& view, const DeviceMesh& mesh) {
  return distribute_tensor(view, mesh, detail::all_replicate(mesh));
}

template <detail::AnyView V>
auto distribute_tensor(const V& view, const Placements& placements,
                       const Distribute& options = {}) {
  return distribute_tensor(view, default_device_mesh("distribute_tensor"), placements, options);
}
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec>
auto distribute_tensor(const Exec& exec, const V& view, const Placements& placements,
                       const Distribute& options = {}) {
  return distribute_tensor(exec, view, default_device_mesh("distribute_tensor"), placements,
                           options);
}

template <detail::AnyView V>
auto distribute_tensor(const V& view) {
  return distribute_tensor(view, default_device_mesh("distribute_tensor"));
}

}  // namespace tessera
