// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tessera/tensor/device_mesh_scope.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

/// What from_local is told of the tensor, and what it checks. The same on every rank.
struct FromLocal {
  /// Global shape, where known: then from_local does not communicate. Empty: inferred from all
  /// local shapes.
  Extents shape = {};
  /// Compare element types, extents and replicas over the mesh.
  bool run_check = false;
};

namespace detail {

/// Spec of pieces with these extents, by mesh rank. A piece without elements matches any extents.
///
/// Errors: InvalidArgument if the sizes form no grid or replicas differ in shape; the same on every
/// rank. They name `function`.
DTensorSpec infer_spec(const MeshLayout& layout, const Placements& placements,
                       const std::vector<Extents>& local_shapes, const char* function);

/// All-gather of the local shapes (metadata), then infer_spec. Collective over the mesh.
DTensorSpec infer_spec(const DeviceMesh& mesh, const Placements& placements,
                       const Extents& local_shape, const char* function);

/// The same for several tensors in one all-gather.
std::vector<DTensorSpec> infer_specs(const DeviceMesh& mesh,
                                     const std::vector<Placements>& placements,
                                     const std::vector<Extents>& local_shapes,
                                     const char* function);

/// Throws on this rank unless a View of these extents is its piece of `spec`.
void require_local_shape(const DeviceMesh& mesh, const DTensorSpec& spec,
                         const Extents& local_shape, const char* function);

/// Throws everywhere unless element types and, where `spec` is given, local shapes agree.
/// Collective over the mesh.
void check_pieces(const DeviceMesh& mesh, const DTensorSpec* spec, ElementType type,
                  const Extents& local_shape);

/// Throws everywhere unless replicas have the same bytes as coordinate 0, but for those of a long
/// double that belong to no value. Collective over the mesh.
void check_replicas(const DeviceMesh& mesh, const DTensorSpec& spec, ElementType type,
                    std::span<const std::byte> row_major_piece);

/// The elements of a View as dense row-major host memory.
template <class V>
auto row_major_copy(const V& view) {
  using Dense =
      Kokkos::View<typename V::non_const_data_type, Kokkos::LayoutRight, typename V::device_type>;
  const auto dense = allocate<Dense>(extents_of(view), "tessera::row_major_copy");
  Kokkos::deep_copy(dense, view);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dense);
}

/// What all ranks pass alike, in words.
struct FromLocalCall {
  const Placements& placements;
  const FromLocal& options;
  std::size_t tensor_dims;
  ElementType type;

  std::string operator()() const;
  /// Without what run_check compares.
  std::uint64_t hash() const;
};

/// The part of from_local that a rank can do alone if it knows the shape.
template <class V>
DTensor<V> from_local(Operation* operation, const Execution& execution, const V& view,
                      const DeviceMesh& mesh, const Placements& placements,
                      const FromLocal& options) {
  constexpr auto type = element_type<typename V::value_type>();
  const bool is_known = V::rank() == 0 || !options.shape.empty();
  DTensorSpec spec(mesh.layout(), placements, is_known ? options.shape : static_extents<V>(), {},
                   "from_local");
  require_representable<V>(spec, "from_local");
  if (!mesh.coordinate()) return DTensorAccess::make(V(), mesh, std::move(spec));
  if (operation != nullptr) {
    const FromLocalCall call{placements, options, V::rank(), type};
    operation->agree(call.hash(), call);
  }
  const auto local_shape = extents_of(view);
  if (options.run_check) check_pieces(mesh, is_known ? &spec : nullptr, type, local_shape);
  if (is_known)
    require_local_shape(mesh, spec, local_shape, "from_local");
  else
    spec = infer_spec(mesh, placements, local_shape, "from_local");
  if (options.run_check) {
    execution.fence("tessera::from_local: before comparing replicas");
    const auto piece = row_major_copy(view);
    check_replicas(mesh, spec, type, std::as_bytes(std::span(piece.data(), piece.size())));
  }
  const auto kept = with_piece_extents(view, mesh, spec);
  return DTensorAccess::make(kept, mesh, std::move(spec));
}

template <class V>
DTensor<V> from_local(const Execution& execution, const V& view, const DeviceMesh& mesh,
                      const Placements& placements, const FromLocal& options) {
  const bool is_known = V::rank() == 0 || !options.shape.empty();
  if (is_known && !options.run_check)
    return from_local(nullptr, execution, view, mesh, placements, options);
  return collectively(mesh.calls(), "from_local", [&](Operation& operation) {
    return from_local(&operation, execution, view, mesh, placements, options);
  });
}

}  // namespace detail

/// A tensor whose piece on this rank is `view`; it keeps the View, nothing is copied.
///
/// With options.shape: local, and a View that is not this rank's chunk throws on this rank.
/// Without: collective over the mesh, one small all-gather of local shapes (metadata), and any
/// uneven sizes that form a grid. With options.run_check: collective, and element types, extents or
/// replicas (bitwise, with coordinate 0; of structs also what pads them) that differ throw everywhere. Off the mesh the result is
/// empty. Errors: InvalidArgument.
template <detail::AnyView V>
DTensor<V> from_local(const V& view, const DeviceMesh& mesh, const Placements& placements,
                      const FromLocal& options = {}) {
  return detail::from_local(Execution(), view, mesh, placements, options);
}

/// The same; before run_check reads the View, the work on `exec` is waited for.
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec> DTensor<V> from_local(const Exec& exec, const V& view,
                                                                  const DeviceMesh& mesh,
                                                                  const Placements& placements,
                                                                  const FromLocal& options = {}) {
  return detail::from_local(Execution(exec), view, mesh, placements, options);
}

/// The same on the mesh of the DeviceMeshScope.
template <detail::AnyView V>
DTensor<V> from_local(const V& view, const Placements& placements, const FromLocal& options = {}) {
  return from_local(view, default_device_mesh("from_local"), placements, options);
}

/// The same on the mesh of the DeviceMeshScope, with `exec`.
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec> DTensor<V> from_local(const Exec& exec, const V& view,
                                                                  const Placements& placements,
                                                                  const FromLocal& options = {}) {
  return from_local(exec, view, default_device_mesh("from_local"), placements, options);
}

}  // namespace tessera
