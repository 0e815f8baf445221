// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/error/detail/never.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/is_dtensor.hpp>
#include <tessera/tensor/detail/misuse.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera {

namespace detail {
struct DTensorAccess;

/// Throws unless pieces of `spec` are boxes, which have an offset. Its text names global_offset.
void require_offset(const DTensorSpec& spec);
/// Returns the extent of a tensor dim of `shape`. Errors: InvalidArgument for a dim out of range.
std::int64_t extent_of(const Extents& shape, int tensor_dim);
/// Returns `tensor_dim` counted from the first one. Errors: InvalidArgument for a dim out of range.
int dim_of(const Extents& shape, int tensor_dim);
/// Returns DTensor::global_index() and DTensor::local_index() of this rank.
std::int64_t global_index(const DeviceMesh& mesh, const DTensorSpec& spec, int tensor_dim,
                          std::int64_t local);
std::optional<std::int64_t> local_index(const DeviceMesh& mesh, const DTensorSpec& spec,
                                        int tensor_dim, std::int64_t global);
/// Returns to_string() of a tensor of these parts.
std::string describe_tensor(const DeviceMesh& mesh, const DTensorSpec& spec, ElementType type);
void write(std::ostream& out, const std::string& text);
}  // namespace detail

/// A DTensor is one logical N-d array whose local pieces are Views on the ranks of a mesh. V is any
/// Kokkos::View of rank 0 to 8.
///
/// It is made by from_local, the factories, distribute_tensor and redistribute. Copies are shallow,
/// as those of a View are. On a rank off the mesh it knows its spec and holds an empty View. It may
/// outlive Kokkos: then it abandons its View instead of freeing it.
template <class V>
class DTensor {
  static_assert(detail::is_local_view<V>,
                "expected a Kokkos::View type in the angle brackets, of at most 8 dims: "
                "DTensor<Kokkos::View<double**>>, zeros<Kokkos::View<double**>>(...)");

 public:
  using view_type = V;
  using value_type = detail::element_of<V>;

  /// Gives the number of tensor dims, as Kokkos::View::rank does.
  static constexpr std::integral_constant<std::size_t, detail::rank_of<V>> rank{};

  /// Holds no tensor: its mesh is null and its View empty.
  DTensor() = default;

  /// Returns this rank's local piece.
  const V& to_local() const& { return view_.get(); }
  V to_local() const&& { return view_.get(); }  // of a result that ends with the statement
  const DeviceMesh& device_mesh() const { return mesh_; }
  const DTensorSpec& spec() const { return spec_; }
  const Placements& placements() const { return spec_.placements(); }

  /// Returns the global shape.
  const Extents& shape() const { return spec_.shape(); }
  /// Returns the global extent of one tensor dim; a negative one counts from the last one (-1).
  /// Errors: InvalidArgument for a dim out of range.
  std::int64_t extent(int tensor_dim) const { return detail::extent_of(shape(), tensor_dim); }
  /// Returns the number of elements of the full tensor.
  std::int64_t size() const { return product(shape()); }

  /// Returns the shape of this rank's local piece; zeros off the mesh.
  const Extents& local_shape() const { return piece_.shape; }
  /// Returns the global index of the first element of this rank's local piece; the global extent in
  /// each tensor dim in which it is empty.
  ///
  /// Errors: InvalidArgument, on all ranks, under Cyclic or HeadTail where pieces are no boxes; use
  /// global_index() there.
  const Extents& global_offset() const {
    if (!has_offset_) detail::require_offset(spec_);
    return piece_.offset;
  }
  /// Returns the global index, along one tensor dim, of index `local` of this rank's local piece.
  /// It works under every sharding. A negative tensor dim counts from the last one.
  ///
  /// Errors: InvalidArgument for a dim or an index out of range.
  std::int64_t global_index(int tensor_dim, std::int64_t local) const {
    return detail::global_index(mesh_, spec_, tensor_dim, local);
  }
  /// Returns the local index of index `global` along one tensor dim; none if this rank does not
  /// hold it. Errors: those of global_index().
  std::optional<std::int64_t> local_index(int tensor_dim, std::int64_t global) const {
    return detail::local_index(mesh_, spec_, tensor_dim, global);
  }

  /// Stops the compiler: only local Views have elements.
  template <std::integral... I>
  value_type& operator()(I...) const {
    static_assert(detail::never<I...>,
                  "a DTensor has no elements of its own: take x.to_local()(i, j), with the local "
                  "indices of this rank, or full_tensor(x)(i, j)");
    return *to_local().data();
  }
  /// Stops the compiler, as operator() does.
  template <std::integral I>
  value_type& operator[](I) const {
    static_assert(detail::never<I>,
                  "a DTensor has no elements of its own: take x.to_local()(i, j), with the local "
                  "indices of this rank, or full_tensor(x)(i, j)");
    return *to_local().data();
  }

 private:
  friend detail::DTensorAccess;

  DTensor(V view, DeviceMesh mesh, DTensorSpec spec, Box piece, std::shared_ptr<void> owner)
      : view_(std::move(view)),
        mesh_(std::move(mesh)),
        spec_(std::move(spec)),
        piece_(piece),
        has_offset_(spec_.has_boxes()),
        owner_(std::move(owner)) {}

  detail::ViewHolder<V> view_;
  DeviceMesh mesh_;
  DTensorSpec spec_;
  Box piece_;  ///< its offset means something if has_offset_
  bool has_offset_ = true;
  std::shared_ptr<void> owner_;  ///< keeps the memory if the View does not
};

/// Returns the tensor as one line of text: its element type, spec and this rank's local piece.
/// Local. Example: "float64 (10, 4) on (dp=2) as S(0), here (5, 4) at (5, 0)"; where pieces are no
/// boxes: "…, here (4) at [0:2|6:8]".
template <LocalView V>
std::string to_string(const DTensor<V>& tensor) {
  return detail::describe_tensor(tensor.device_mesh(), tensor.spec(),
                                 element_type<std::remove_const_t<typename V::value_type>>());
}
/// Writes to_string(tensor). Local.
template <LocalView V>
std::ostream& operator<<(std::ostream& out, const DTensor<V>& tensor) {
  detail::write(out, to_string(tensor));
  return out;
}

namespace detail {

/// Returns the extents of this rank's local piece of `spec` on `mesh`; zeros off the mesh.
Extents local_extents(const DeviceMesh& mesh, const DTensorSpec& spec);
/// Returns the extents, and the offset if all pieces are boxes.
Box local_box(const DeviceMesh& mesh, const DTensorSpec& spec);

struct DTensorAccess {
  /// Makes a tensor of `view`. Expects that `view` has the extents of this rank's local piece.
  template <class V>
  static DTensor<V> make(V view, DeviceMesh mesh, DTensorSpec spec) {
    const auto piece = local_box(mesh, spec);
    return make(std::move(view), std::move(mesh), std::move(spec), piece);
  }
  /// Takes local_box() of the mesh and the spec, too; and what owns the memory of `view`, if the View
  /// does not.
  template <class V>
  static DTensor<V> make(V view, DeviceMesh mesh, DTensorSpec spec, const Box& piece,
                         std::shared_ptr<void> owner = {}) {
    return DTensor<V>(std::move(view), std::move(mesh), std::move(spec), piece, std::move(owner));
  }
  /// Returns a tensor of memory that `of` has.
  template <class V, class W>
  static DTensor<V> make_within(V view, DTensorSpec spec, const DTensor<W>& of) {
    const auto& mesh = of.device_mesh();
    const auto piece = local_box(mesh, spec);
    auto owner = V::traits::memory_traits::is_unmanaged ? memory(of) : of.owner_;
    return make(std::move(view), mesh, std::move(spec), piece, std::move(owner));
  }
  /// Returns what owns the memory of the tensor, if its View does not; else null.
  template <class V>
  static std::shared_ptr<void> owner(const DTensor<V>& tensor) {
    return tensor.owner_;
  }
  /// Returns an object that keeps the memory of the tensor.
  template <class V>
  static std::shared_ptr<void> memory(const DTensor<V>& tensor) {
    if (tensor.owner_) return tensor.owner_;
    return held(tensor.to_local());
  }
};

/// Returns an object that keeps the memory of `tensor` and of what else is named.
template <class V, class... Others>
std::shared_ptr<void> held_with(const DTensor<V>& tensor, const Others&... others) {
  return std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
      DTensorAccess::memory(tensor), held(others...));
}

/// Returns `view` or, if it has no elements, an empty View with the extents of this rank's local
/// piece. Expects that a View with elements has these extents.
template <class V>
V with_piece_extents(const V& view, const DeviceMesh& mesh, const DTensorSpec& spec) {
  if (view.size() > 0) return view;
  const auto shape = local_extents(mesh, spec);
  if (extents_of(view) == shape || product(shape) > 0) return view;
  return V(allocate<redistributed_view_t<V>>(shape, "tessera::from_local"));
}

/// Makes a tensor of uninitialised memory.
template <class V>
DTensor<V> allocate_dtensor(const DeviceMesh& mesh, DTensorSpec spec, const char* label) {
  if (!mesh.coordinate()) return DTensorAccess::make(V(), mesh, std::move(spec));
  auto view = allocate<V>(local_extents(mesh, spec), label);
  return DTensorAccess::make(std::move(view), mesh, std::move(spec));
}

}  // namespace detail
}  // namespace tessera
