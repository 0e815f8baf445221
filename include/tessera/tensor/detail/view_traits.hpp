// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/error/error.hpp>
#include <tessera/extents/element_type.hpp>
#include <tessera/extents/extents.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/huge_pages.hpp>
#include <tessera/tensor/execution.hpp>
#include <tessera/tensor/label_scope.hpp>
#include <tessera/tensor/view_types.hpp>

namespace tessera::detail {

/// Allocates a View with this label.
template <class V>
V allocate_as(const Extents& shape, const std::string& label) {
  static_assert(is_allocatable<V>,
                "expected a managed, non-const View in LayoutLeft or LayoutRight");
  typename V::array_layout layout;
  for (std::size_t d = 0; d != V::rank(); ++d)
    layout.dimension[d] = static_cast<std::size_t>(shape[d]);
  V view(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), layout);
  if constexpr (std::is_same_v<typename V::memory_space, Kokkos::HostSpace>)
    ask_for_huge_pages(view.data(), view.span() * sizeof(typename V::value_type));
  return view;
}

/// Allocates a View of `shape` without initialising it, with the label of a LabelScope, or else with
/// `label`, a function's name.
template <class V>
V allocate(const Extents& shape, const char* label) {
  return allocate_as<V>(shape, label_of_result(label));
}

template <class V>
Extents extents_of(const V& view) {
  Extents result;
  for (std::size_t d = 0; d != V::rank(); ++d)
    result.push_back(static_cast<std::int64_t>(view.extent(d)));
  return result;
}

/// Returns the static extents of a View type by tensor dim, 0 for dynamic extents.
template <class V>
Extents static_extents() {
  Extents result = Extents::filled(V::rank(), 0);
  for (std::size_t d = V::rank_dynamic(); d != V::rank(); ++d)
    result[d] = static_cast<std::int64_t>(V::static_extent(d));
  return result;
}

/// Throws InvalidArgument unless Views with these static extents can hold every local piece of
/// `spec`, and elements of `type` can be reduced by its Partials. All ranks get the same result.
void require_representable(const DTensorSpec& spec, const Extents& static_extents,
                           ElementType type);

template <class V>
void require_representable(const DTensorSpec& spec) {
  require_representable(spec, static_extents<V>(), element_type<typename V::value_type>());
}

/// Keeps a View. If Kokkos is finalised before the holder is destroyed, the View is abandoned, not
/// freed.
template <class V>
class ViewHolder {
 public:
  ViewHolder() : view_() {}
  explicit ViewHolder(V view) : view_(std::move(view)) {}
  ViewHolder(const ViewHolder& other) : view_(other.view_) {}
  ViewHolder(ViewHolder&& other) noexcept : view_(std::move(other.view_)) {}
  ViewHolder& operator=(const ViewHolder& other) {
    view_ = other.view_;
    return *this;
  }
  ViewHolder& operator=(ViewHolder&& other) noexcept {
    view_ = std::move(other.view_);
    return *this;
  }
  ~ViewHolder() {
    if (!Kokkos::is_finalized()) view_.~V();
  }

  const V& get() const { return view_; }

 private:
  union {
    V view_;
  };
};

/// Returns an object that keeps `views` alive.
template <class... V>
std::shared_ptr<void> held(const V&... views) {
  return std::make_shared<std::tuple<ViewHolder<V>...>>(ViewHolder<V>(views)...);
}

}  // namespace tessera::detail
