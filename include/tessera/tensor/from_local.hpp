// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tessera/tensor/device_mesh_scope.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

/// Tells from_local what the caller knows of the tensor and what to check. All ranks pass the same
/// options.
struct FromLocal {
  /// Gives the global shape if it is known; then from_local does not communicate. Empty: the shape
  /// is inferred from all local shapes.
  Extents shape = {};
  /// Says whether to compare element types, extents and replicas over the mesh.
  bool run_check = false;
};

namespace detail {

/// Returns the spec of local pieces with these extents, one for each mesh rank. A piece without
/// elements matches any extents.
///
/// Errors: InvalidArgument if the sizes form no grid or replicas differ in shape, the same on every
/// rank. They name `function`.
DTensorSpec infer_spec(const MeshLayout& layout, const Placements& placements,
                       const std::vector<Extents>& local_shapes, const char* function);

/// Gathers the local shapes of all ranks (metadata), then calls infer_spec. Collective over the
/// mesh.
DTensorSpec infer_spec(const DeviceMesh& mesh, const Placements& placements,
                       const Extents& local_shape, const char* function);

/// Infers the specs of several tensors with one all-gather.
std::vector<DTensorSpec> infer_specs(const DeviceMesh& mesh,
                                     const std::vector<Placements>& placements,
                                     const std::vector<Extents>& local_shapes,
                                     const char* function);

/// Throws on this rank unless a View of these extents matches its local piece of `spec`.
void require_local_shape(const DeviceMesh& mesh, const DTensorSpec& spec,
                         const Extents& local_shape, const char* function);

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
  const Placements& placements;
  const FromLocal& options;
  std::size_t tensor_dims;
  ElementType type;

  /// Returns the call as text.
  std::string operator()() const;
  /// Returns a hash, without the element type and the number of dims if run_check compares them.
  std::uint64_t hash() const;
};

/// Makes the tensor; communicates unless the shape is known and run_check is off. `operation` is
/// null for a local call.
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

/// Makes a tensor whose local piece on this rank is `view`. It keeps the View and copies nothing.
///
/// With options.shape the call is local, and throws on this rank if `view` does not have the shape
/// of this rank's chunk. Without it the call is collective over the mesh, makes one small
/// all-gather of local shapes (metadata), and takes any uneven sizes that form a grid. With
/// options.run_check it is collective, and throws on all ranks if element types, extents or
/// replicas differ. Replicas are compared bitwise with coordinate 0; those of structs include their
/// padding. Off the mesh the result is empty. Errors: InvalidArgument.
template <detail::AnyView V>
DTensor<V> from_local(const V& view, const DeviceMesh& mesh, const Placements& placements,
                      const FromLocal& options = {}) {
  return detail::from_local(Execution(), view, mesh, placements, options);
}

/// Waits for the work on `exec` before run_check reads the View.
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec> DTensor<V> from_local(const Exec& exec, const V& view,
                                                                  const DeviceMesh& mesh,
                                                                  const Placements& placements,
                                                                  const FromLocal& options = {}) {
  return detail::from_local(Execution(exec), view, mesh, placements, options);
}

/// Takes the mesh of the current DeviceMeshScope.
template <detail::AnyView V>
DTensor<V> from_local(const V& view, const Placements& placements, const FromLocal& options = {}) {
  return from_local(view, default_device_mesh("from_local"), placements, options);
}

/// Takes `exec` and the mesh of the current DeviceMeshScope.
template <class Exec, detail::AnyView V>
requires Kokkos::is_execution_space_v<Exec> DTensor<V> from_local(const Exec& exec, const V& view,
                                                                  const Placements& placements,
                                                                  const FromLocal& options = {}) {
  return from_local(exec, view, default_device_mesh("from_local"), placements, options);
}

}  // namespace tessera
