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

/// One logical N-d array whose pieces are Views on the ranks of a mesh. V is any Kokkos::View of
/// rank 0 to 8.
///
/// Made by from_local, the factories, distribute_tensor and redistribute. Copies are shallow, as a
/// View's. On a rank off the mesh it knows its spec and holds an empty View. It may outlive Kokkos:
/// then it lets go of its View instead of freeing it.
template <detail::AnyView V>
class DTensor {
 public:
  using view_type = V;
  using value_type = typename V::value_type;

  /// No tensor: a null mesh, an empty View.
  DTensor() = default;

  /// This rank's piece.
  const V& to_local() const { return view_.get(); }
  const DeviceMesh& device_mesh() const { return mesh_; }
  const DTensorSpec& spec() const { return spec_; }
  const Placements& placements() const { return spec_.placements(); }

  /// Global shape.
  const Extents& shape() const { return spec_.shape(); }
  /// Global extent of one tensor dim, counted from 0; negative ones are not resolved.
  std::int64_t extent(int tensor_dim) const {
    return shape()[static_cast<std::size_t>(tensor_dim)];
  }
  /// Number of elements of the whole tensor.
  std::int64_t size() const { return product(shape()); }

  /// Shape of this rank's piece; zeros off the mesh.
  const Extents& local_shape() const { return piece_.shape; }
  /// Global index of the first element of this rank's piece; the global extent where it is empty.
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

/// Whether T is a DTensor of some View type; references and const types are none.
template <class T>
inline constexpr bool is_dtensor_v = false;
template <class V>
inline constexpr bool is_dtensor_v<DTensor<V>> = true;

namespace detail {

/// This rank's piece of `spec` on `mesh`; empty off the mesh.
Box local_piece(const DeviceMesh& mesh, const DTensorSpec& spec);

struct DTensorAccess {
  /// Expects that `view` has the extents of this rank's piece.
  template <class V>
  static DTensor<V> make(V view, DeviceMesh mesh, DTensorSpec spec) {
    auto piece = local_piece(mesh, spec);
    return DTensor<V>(std::move(view), std::move(mesh), std::move(spec), piece);
  }
};

/// `view`, or where it has no elements, an empty View with the extents of this rank's piece.
/// Expects those extents of a View with elements.
template <class V>
V with_piece_extents(const V& view, const DeviceMesh& mesh, const DTensorSpec& spec) {
  if (view.size() > 0) return view;
  const auto shape = local_piece(mesh, spec).shape;
  if (extents_of(view) == shape || product(shape) > 0) return view;
  return V(allocate<AllocatableView<V>>(shape, "tessera::from_local"));
}

/// A tensor of uninitialised memory.
template <class V>
DTensor<V> allocate_dtensor(const DeviceMesh& mesh, DTensorSpec spec, const char* label) {
  if (!mesh.coordinate()) return DTensorAccess::make(V(), mesh, std::move(spec));
  auto view = allocate<V>(local_piece(mesh, spec).shape, label);
  return DTensorAccess::make(std::move(view), mesh, std::move(spec));
}

}  // namespace detail
}  // namespace tessera
