// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <tessera/sharding/target.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

/// Says what from_local() compares besides what it infers. All ranks pass the same options.
struct FromLocal {
  bool run_check = false;  ///< whether to compare element types, extents and replicas over the mesh
};

namespace detail {

/// A ShapeRange is an Extents or another range of integers that has a size.
template <class S>
concept ShapeRange = std::ranges::sized_range<S> && std::integral<std::ranges::range_value_t<S>>;

/// Returns the spec of local pieces with these extents, one for each mesh rank. A piece without
/// elements matches any extents.
///
/// Errors: InvalidArgument if the sizes form no grid or replicas differ in shape, the same on every
/// rank.
DTensorSpec infer_spec(const MeshLayout& layout, const Placements& placements,
                       const std::vector<Extents>& local_shapes);

/// Gathers the local shapes of all ranks (metadata), then calls infer_spec. Collective over the
/// mesh.
DTensorSpec infer_spec(const DeviceMesh& mesh, const Placements& placements,
                       const Extents& local_shape);

/// Takes a target without a spec, whose Sizes must be those that the local shapes have. Collective
/// over the mesh.
DTensorSpec infer_spec(const DeviceMesh& mesh, const Target& target, const Extents& local_shape);

/// Infers the specs of several tensors with one all-gather.
std::vector<DTensorSpec> infer_specs(const DeviceMesh& mesh,
                                     const std::vector<Placements>& placements,
                                     const std::vector<Extents>& local_shapes);

/// Throws on this rank unless a View of these extents matches its local piece of `spec`. Returns
/// local_box() of the piece.
Box require_local_shape(const DeviceMesh& mesh, const DTensorSpec& spec,
                        const Extents& local_shape);

/// Throws on all ranks unless element types and, if `spec` is given, local shapes agree. Collective
/// over the mesh.
void check_pieces(const DeviceMesh& mesh, const DTensorSpec* spec, ElementType type,
                  const Extents& local_shape);

/// Throws on all ranks unless replicas have the same bytes as that of coordinate 0. The padding
/// bytes of a long double do not count. Collective over the mesh.
void check_replicas(const DeviceMesh& mesh, const DTensorSpec& spec, ElementType type,
                    std::span<const std::byte> row_major_piece);

/// Returns the elements of a View as dense row-major host memory.
template <class V>
auto row_major_copy(const V& view) {
  using Dense =
      Kokkos::View<typename V::non_const_data_type, Kokkos::LayoutRight, typename V::device_type>;
  const auto dense = allocate<Dense>(extents_of(view), "tessera::row_major_copy");
  Kokkos::deep_copy(dense, view);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dense);
}

/// Describes the arguments that are the same on all ranks.
struct FromLocalCall {
  const Target& target;
  int mesh_dims;
  FromLocal options;
  std::size_t tensor_dims;
  Extents shape;  ///< that of the View type, where all its extents are static
  ElementType type;

  /// Returns the call as text.
  std::string operator()() const;
  /// Returns a hash, without the element type and the number of dims if run_check compares them.
  std::uint64_t hash() const;
};

/// Makes the tensor, of the spec given or of one that is inferred from all local shapes.
template <class V>
DTensor<V> from_local(const V& view, const DeviceMesh& mesh, const Target& target,
                      FromLocal options) {
  return collectively(mesh, "from_local", [&](Operation& operation) {
    constexpr auto type = element_type<typename V::value_type>();
    const bool has_spec = target.spec() != nullptr;
    // Dims of static extent are not sharded, see require_representable(). What the ranks compare anyway
    // they infer, too.
    const bool is_static = V::rank() == 0 || (V::rank_dynamic == 0 && !options.run_check);
    const bool is_known = has_spec || is_static;
    const auto known = has_spec ? target.spec()->shape() : static_extents<V>();
    auto spec = is_known
                    ? target_spec(mesh.layout(), known, target)
                    : make_spec(mesh.layout(), target.placements(mesh.ndim()), static_extents<V>());
    require_representable<V>(spec);
    if (!mesh.coordinate()) return DTensorAccess::make(V(), mesh, std::move(spec));
    const auto local_shape = extents_of(view);
    const FromLocalCall call{
        target, mesh.ndim(), options, V::rank(), is_static ? static_extents<V>() : Extents{}, type};
    operation.agree(call.hash(), call);
    if (options.run_check) check_pieces(mesh, is_known ? &spec : nullptr, type, local_shape);
    if (is_known)
      require_local_shape(mesh, spec, local_shape);
    else
      spec = infer_spec(mesh, target, local_shape);
    if (options.run_check) {
      Kokkos::fence("tessera::from_local: before comparing replicas");
      const auto piece = row_major_copy(view);
      check_replicas(mesh, spec, type, std::as_bytes(std::span(piece.data(), piece.size())));
    }
    const auto kept = with_piece_extents(view, mesh, spec);
    return DTensorAccess::make(kept, mesh, std::move(spec));
  });
}

/// Makes the tensor of global shape `shape`, without communication.
template <class V>
DTensor<V> from_local(const V& view, const DeviceMesh& mesh, const Target& target,
                      const Extents& shape) {
  auto spec = target_spec(mesh.layout(), shape, target);
  require_representable<V>(spec);
  if (!mesh.coordinate()) return DTensorAccess::make(V(), mesh, std::move(spec));
  const auto piece = require_local_shape(mesh, spec, extents_of(view));
  const auto kept = with_piece_extents(view, mesh, spec);
  return DTensorAccess::make(kept, mesh, std::move(spec), piece);
}

}  // namespace detail

/// Makes a tensor whose local piece on this rank is `view`. It keeps the View and copies nothing.
///
/// The global shape is inferred from all local shapes, which may be any uneven sizes that form a
/// grid, by one small all-gather (metadata); under Balanced, Cyclic and HeadTail they must be those
/// of the rule. If all extents of the View type are static, they are the global shape, and nothing is
/// gathered. If the target is a spec, its shape and boundaries
/// hold, there is no all-gather, and a View that does not fit throws on its rank. With
/// options.run_check all ranks throw if element types, extents or replicas differ. Replicas are
/// compared bitwise with coordinate 0; those of structs include their padding. Off the mesh the
/// result is empty.
///
/// Collective over the mesh, also for a View of 0 dims (Extents{} as the shape makes that local).
/// Errors: InvalidArgument; MeshMismatch for a spec on another mesh.
template <LocalView V>
DTensor<V> from_local(const V& view, const DeviceMesh& mesh, const Target& target,
                      const FromLocal& options = {}) {
  return detail::from_local(view, mesh, target, options);
}
/// Takes the mesh of the current DeviceMeshScope.
template <LocalView V>
DTensor<V> from_local(const V& view, const Target& target, const FromLocal& options = {}) {
  return detail::from_local(view, detail::named("from_local", detail::mesh_of_scope), target,
                            options);
}

/// Makes a tensor of global shape `shape` whose local piece on this rank is `view`. It keeps the
/// View and copies nothing. Off the mesh the result is empty.
///
/// Local. Errors: InvalidArgument, on this rank, if `view` does not have the shape of this rank's
/// piece, for a target or a shape that DTensorSpec rejects, and for a spec of another shape;
/// MeshMismatch for a spec on another mesh.
template <LocalView V, std::integral I>
DTensor<V> from_local(const V& view, const DeviceMesh& mesh, const Target& target,
                      std::initializer_list<I> shape) {
  return detail::named("from_local", [&] {
    return detail::from_local(view, mesh, target, Extents(std::span(shape.begin(), shape.size())));
  });
}
/// Takes the mesh of the current DeviceMeshScope.
template <LocalView V, std::integral I>
DTensor<V> from_local(const V& view, const Target& target, std::initializer_list<I> shape) {
  return detail::named("from_local", [&] {
    return detail::from_local(view, detail::mesh_of_scope(), target,
                              Extents(std::span(shape.begin(), shape.size())));
  });
}
/// Takes Extents, or any other range of integers.
template <LocalView V, detail::ShapeRange S = Extents>
DTensor<V> from_local(const V& view, const DeviceMesh& mesh, const Target& target, const S& shape) {
  return detail::named("from_local",
                       [&] { return detail::from_local(view, mesh, target, Extents(shape)); });
}
/// Takes Extents, or any other range of integers, and the mesh of the current DeviceMeshScope.
template <LocalView V, detail::ShapeRange S = Extents>
DTensor<V> from_local(const V& view, const Target& target, const S& shape) {
  return detail::named("from_local", [&] {
    return detail::from_local(view, detail::mesh_of_scope(), target, Extents(shape));
  });
}

}  // namespace tessera
