// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera {

namespace detail {
struct DTensorAccess;
}

/// A DTensor is one logical N-d array whose local pieces are Views on the ranks of a mesh. V is any
/// Kokkos::View of rank 0 to 8.
///
/// It is made by from_local, the factories, distribute_tensor and redistribute. Copies are shallow,
/// as those of a View are. On a rank off the mesh it knows its spec and holds an empty View. It may
/// outlive Kokkos: then it abandons its View instead of freeing it.
template <detail::AnyView V>
class DTensor {
 public:
  using view_type = V;
  using value_type = typename V::value_type;

  /// Holds no tensor: its mesh is null and its View empty.
  DTensor() = default;

  /// Returns this rank's local piece.
  const V& to_local() const { return view_.get(); }
  const DeviceMesh& device_mesh() const { return mesh_; }
  const DTensorSpec& spec() const { return spec_; }
  const Placements& placements() const { return spec_.placements(); }

  /// Returns the global shape.
  const Extents& shape() const { return spec_.shape(); }
  /// Returns the global extent of one tensor dim, counted from 0; negative dims are not resolved.
  std::int64_t extent(int tensor_dim) const {
    return shape()[static_cast<std::size_t>(tensor_dim)];
  }
  /// Returns the number of elements of the full tensor.
  std::int64_t size() const { return product(shape()); }

  /// Returns the shape of this rank's local piece; zeros off the mesh.
  const Extents& local_shape() const { return piece_.shape; }
  /// Returns the global index of the first element of this rank's local piece; the global extent in
  /// each tensor dim in which it is empty.
  const Extents& global_offset() const { return piece_.offset; }

 private:
  friend detail::DTensorAccess;

  DTensor(V view, DeviceMesh mesh, DTensorSpec spec, Box piece)
      : view_(std::move(view)), mesh_(std::move(mesh)), spec_(std::move(spec)), piece_(piece) {}

  detail::ViewHolder<V> view_;
  DeviceMesh mesh_;
  DTensorSpec spec_;
  Box piece_;
};

/// Tells whether T is a DTensor of some View type; references and const types are not.
template <class T>
inline constexpr bool is_dtensor_v = false;
template <class V>
inline constexpr bool is_dtensor_v<DTensor<V>> = true;

namespace detail {

/// Returns this rank's local piece of `spec` on `mesh`; an empty box off the mesh.
Box local_piece(const DeviceMesh& mesh, const DTensorSpec& spec);

struct DTensorAccess {
  /// Makes a tensor of `view`. Expects that `view` has the extents of this rank's local piece.
  template <class V>
  static DTensor<V> make(V view, DeviceMesh mesh, DTensorSpec spec) {
    auto piece = local_piece(mesh, spec);
    return DTensor<V>(std::move(view), std::move(mesh), std::move(spec), piece);
  }
};

/// Returns `view` or, if it has no elements, an empty View with the extents of this rank's local
/// piece. Expects that a View with elements has these extents.
template <class V>
V with_piece_extents(const V& view, const DeviceMesh& mesh, const DTensorSpec& spec) {
  if (view.size() > 0) return view;
  const auto shape = local_piece(mesh, spec).shape;
  if (extents_of(view) == shape || product(shape) > 0) return view;
  return V(allocate<AllocatableView<V>>(shape, "tessera::from_local"));
}

/// Makes a tensor of uninitialised memory.
template <class V>
DTensor<V> allocate_dtensor(const DeviceMesh& mesh, DTensorSpec spec, const char* label) {
  if (!mesh.coordinate()) return DTensorAccess::make(V(), mesh, std::move(spec));
  auto view = allocate<V>(local_piece(mesh, spec).shape, label);
  return DTensorAccess::make(std::move(view), mesh, std::move(spec));
}

}  // namespace detail
}  // namespace tessera
