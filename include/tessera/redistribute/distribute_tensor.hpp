// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

/// Says where distribute_tensor() takes the data from. All ranks pass equal values.
struct Distribute {
  int src_rank = 0;        ///< mesh rank whose data is distributed
  bool each_rank = false;  ///< every rank has the data and takes its own slice: no communication
};

namespace detail {

/// Returns the extents of the View on mesh rank `root` on every rank; they travel as metadata.
/// Collective over the mesh.
Extents shape_on(const DeviceMesh& mesh, int root, const Extents& mine, const char* operation);

/// Checks the arguments that all ranks know: `src_rank` is on the mesh, and no placement is
/// Partial.
void require_distributable(const DeviceMesh& mesh, const Placements& placements, int src_rank);

/// Describes the call by the arguments that all ranks pass alike, for Operation::agree().
struct DistributeCall {
  const char* function;
  const Target& target;
  int mesh_dims;
  const Distribute& options;
  const Extents& shape;  ///< extents of this rank's View
  ElementType type;
  bool on_device;

  std::string operator()() const;
  std::uint64_t hash() const;
};

/// Returns the spec of a tensor that mesh ranks hold in `Result`s, from what all of them know
/// alike.
template <class Result>
DTensorSpec common_spec(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  return common([&] {
    auto spec = target_spec(mesh.layout(), shape, target);
    require_representable<Result>(spec);
    return spec;
  });
}

/// Holds a redistribution that is ready to run.
struct Move {
  Redistributor redistributor;
  ArrayRef source;
  ArrayRef destination;
};

/// Prepares the redistribution of `source`, the full tensor on mesh rank `root`, to `target`.
Move move_from_root(const DeviceMesh& mesh, int root, const DTensorSpec& target, ArrayRef source,
                    ArrayRef destination, const PlanSettings& settings);

template <class V>
DTensor<redistributed_view_t<V>> distribute_tensor(const Execution& execution, const V& view,
                                                   const DeviceMesh& mesh, const Target& target,
                                                   const Distribute& options) {
  using Result = redistributed_view_t<V>;
  constexpr auto label = "tessera::distribute_tensor";
  auto* const calls = options.each_rank
                          ? nullptr
                          : named("distribute_tensor", [&] { return MeshAccess::calls(mesh); });
  return collectively(calls, "distribute_tensor", [&](Operation& operation) {
    require_distributable(mesh, target.placements(mesh.ndim()), options.src_rank);
    constexpr auto type = element_type<typename Result::value_type>();
    const auto own_shape = extents_of(view);
    const DistributeCall call{operation.name(), target, mesh.ndim(),     options,
                              own_shape,        type,   are_on_device<V>};
    operation.agree(call.hash(), call);
    auto shape = own_shape;
    if (!options.each_rank && mesh.coordinate())
      shape = shape_on(mesh, options.src_rank, shape, label);
    // Off the mesh the shape of the data is not known, but that of a spec is.
    if (!mesh.coordinate() && target.spec() != nullptr) shape = target.spec()->shape();
    const auto spec = common_spec<Result>(mesh, target, shape);
    auto result = allocate_dtensor<Result>(mesh, spec, label);
    if (!mesh.coordinate()) return result;
    const auto source = array_ref(view);
    const auto destination = array_ref(result.to_local());
    const auto settings = plain_settings<V>();
    const auto move =
        options.each_rank
            ? Move{cached_redistributor(mesh, replicated(mesh.layout(), shape), spec, type,
                                        settings),
                   source, destination}
            : move_from_root(mesh, options.src_rank, spec, source, destination, settings);
    RedistributorAccess::run(move.redistributor, execution, move.source, move.destination, label,
                             [&] { return held(view, result.to_local()); });
    return result;
  });
}

}  // namespace detail

/// Distributes the data of mesh rank options.src_rank, in one exchange (on several nodes it takes
/// as many as redistribute()). Only the View of that rank needs extents.
///
/// With options.each_rank every rank has all the data and keeps its slice, without communication.
/// Without a target all placements are Replicate; a spec as the target has the shape of the data.
/// The result has memory of its own, in a View type as redistribute() returns it. Off the mesh it
/// is empty. Collective over the mesh: the shape is broadcast (metadata), then there is one
/// exchange. Errors: InvalidArgument for a Partial, placements that do not fit, a src_rank off the
/// mesh; MeshMismatch for a spec on another mesh. All ranks throw, see collectively().
template <LocalView V>
DTensor<redistributed_view_t<V>> distribute_tensor(const V& view, const DeviceMesh& mesh,
                                                   const Target& target = all_replicate,
                                                   const Distribute& options = {}) {
  return detail::distribute_tensor(Execution(), view, mesh, target, options);
}
/// Takes the mesh of the current DeviceMeshScope.
template <LocalView V>
DTensor<redistributed_view_t<V>> distribute_tensor(const V& view,
                                                   const Target& target = all_replicate,
                                                   const Distribute& options = {}) {
  const auto& mesh = detail::named("distribute_tensor", detail::mesh_of_scope);
  return detail::distribute_tensor(Execution(), view, mesh, target, options);
}
/// Orders the work on `exec`.
template <LocalView V>
DTensor<redistributed_view_t<V>> distribute_tensor(const Execution& exec, const V& view,
                                                   const DeviceMesh& mesh,
                                                   const Target& target = all_replicate,
                                                   const Distribute& options = {}) {
  return detail::distribute_tensor(exec, view, mesh, target, options);
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <LocalView V>
DTensor<redistributed_view_t<V>> distribute_tensor(const Execution& exec, const V& view,
                                                   const Target& target = all_replicate,
                                                   const Distribute& options = {}) {
  const auto& mesh = detail::named("distribute_tensor", detail::mesh_of_scope);
  return detail::distribute_tensor(exec, view, mesh, target, options);
}

}  // namespace tessera
