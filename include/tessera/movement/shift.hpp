// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tessera/fetch/fetch.hpp>
#include <tessera/redistribute/collectives.hpp>
#include <tessera/tensor/from_local.hpp>

namespace tessera {

/// Describes how shift() treats the ends of a mesh dim.
struct Shift {
  bool periodic = false;  ///< the neighbour of the last rank is the first one
};

namespace detail {

/// Brings to each rank the piece of the rank that is `distance` before it. `spec` is that of all Views
/// one after another.
void shift_pieces(const Execution& execution, const DeviceMesh& line, const DTensorSpec& spec,
                  int distance, bool is_periodic, const ArrayRef& view, const ArrayRef& result,
                  const PlanSettings& settings);

}  // namespace detail

/// Sends a View to the rank that is `distance` after this one along a mesh dim, and returns what
/// arrives from the rank that is as far before it: an empty View where there is no such rank.
///
/// The extents of the Views may differ along their first dim; they travel as metadata.
/// Collective over the ranks along `mesh_dim` through the calling rank, with one exchange. Off the mesh
/// it returns an empty View. Errors: InvalidArgument for an unknown mesh dim, for Views that differ
/// along other dims, for arguments that differ between ranks; MpiError.
template <LocalView V>
redistributed_view_t<V> shift(const V& view, int distance, const DeviceMesh& mesh,
                              const MeshDim& mesh_dim, const Shift& options = {}) {
  return shift(Execution(), view, distance, mesh, mesh_dim, options);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> shift(const Execution& exec, const V& view, int distance,
                              const DeviceMesh& mesh, const MeshDim& mesh_dim,
                              const Shift& options = {}) {
  static_assert(V::rank() >= 1, "shift: expected a View of at least 1 dim");
  using Result = redistributed_view_t<V>;
  const auto line = detail::named("shift", [&] { return detail::line(mesh, {mesh_dim}); });
  return collectively(line, "shift", [&](Operation& operation) {
    if (!line.coordinate()) return Result();
    const detail::CollectiveCall call{operation.name(),
                                      V::rank(),
                                      detail::element_type_of<V>(),
                                      detail::are_on_device<V>,
                                      {distance, options.periodic ? 1 : 0}};
    operation.agree(call.hash(), call);
    const auto spec =
        detail::infer_spec(line, detail::uniform(line, Shard(0)), detail::extents_of(view));
    const auto from = line.neighbour(0, -distance, options.periodic);
    const auto extents = from ? spec.local_shape(*from) : Extents::filled(V::rank(), 0);
    auto result = detail::allocate<Result>(
        detail::patch_shape(Box{extents, extents}, V::rank(), detail::static_extents<Result>()),
        "tessera::shift");
    detail::keeping(
        line.communicator(),
        [&] {
          detail::shift_pieces(exec, line, spec, distance, options.periodic, array_ref(view),
                               array_ref(result), detail::settings_for<V, Result>());
        },
        [&] { return detail::held(view, result); });
    return result;
  });
}

}  // namespace tessera
