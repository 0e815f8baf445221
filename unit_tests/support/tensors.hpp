// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/factories.hpp>

namespace tessera::test {

/// Tests have their Views in this memory space: that of Kokkos' default execution space, a device's
/// if Kokkos has one. Suites for host memory name Kokkos::HostSpace, and HostMatrix.
#ifdef TESSERA_TEST_SPACE
using TestSpace = TESSERA_TEST_SPACE;
#else
using TestSpace = Kokkos::DefaultExecutionSpace::memory_space;
#endif
using Vector = Kokkos::View<double*, Kokkos::LayoutRight, TestSpace>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, TestSpace>;
using LeftMatrix = Kokkos::View<double**, Kokkos::LayoutLeft, TestSpace>;
using HostMatrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

template <class V>
inline constexpr bool host_can_access =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                               typename V::memory_space>::accessible;

/// Returns a host View with the same values, row-major and without holes; the same View if the host
/// can access it.
template <class V>
auto on_host(const V& view) {
  if constexpr (host_can_access<V>) {
    Kokkos::fence();
    return view;
  } else {
    using Dense = Kokkos::View<typename V::non_const_data_type, Kokkos::LayoutRight,
                               typename V::memory_space>;
    const auto dense = detail::allocate<Dense>(detail::extents_of(view), "dense");
    Kokkos::deep_copy(dense, view);
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dense);
  }
}

/// Calls function(host View), which may change the values of `view`.
template <class V, class Function>
void change_on_host(const V& view, const Function& function) {
  const auto host = on_host(view);
  function(host);
  if constexpr (!host_can_access<V>) {
    const auto dense = Kokkos::create_mirror_view_and_copy(typename V::memory_space(), host);
    Kokkos::deep_copy(view, dense);
  }
}

/// Gives the row-major number of a global index, times `factor`.
struct GlobalIndex {
  Kokkos::Array<std::int64_t, 8> strides{};
  double factor;

  explicit GlobalIndex(const Extents& shape, double times = 1) : factor(times) {
    const auto row_major = row_major_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) strides[d] = row_major[d];
  }

  /// Returns the number for from_function.
  template <std::size_t ndims>
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, ndims>& index) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d != ndims; ++d) number += index[d] * strides[d];
    return factor * static_cast<double>(number);
  }

  double operator()(const Extents& index) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) number += index[d] * strides[d];
    return factor * static_cast<double>(number);
  }
};

/// Returns a tensor in which each element is its global index.
template <class V>
DTensor<V> iota(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  return from_function<V>(mesh, target, shape, GlobalIndex(shape));
}

/// Calls function(index) for the indices of a box, row-major.
template <class Function>
void for_each_index_in(const Box& box, const Function& function) {
  Extents index = box.offset;
  for (std::int64_t i = 0; i < box.size(); ++i) {
    function(index);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < box.offset[d] + box.shape[d]) break;
      index[d] = box.offset[d];
    }
  }
}

/// Returns the element at the global index `index` of a host View that is the piece at `offset`.
template <class HostView>
auto& element_of(const HostView& view, const Extents& offset, const Extents& index) {
  static_assert(host_can_access<HostView>);
  std::int64_t distance = 0;
  for (std::size_t d = 0; d < index.size(); ++d)
    distance += (index[d] - offset[d]) * static_cast<std::int64_t>(view.stride(d));
  return view.data()[distance];
}

/// Sets each element to its global index; the View is the piece at `offset` of a tensor of
/// `global_shape`.
template <class V>
void fill_iota(const V& view, const Extents& offset, const Extents& global_shape) {
  change_on_host(view, [&](const auto& host) {
    for_each_index_in({offset, detail::extents_of(view)}, [&](const Extents& index) {
      element_of(host, offset, index) =
          static_cast<typename V::value_type>(GlobalIndex(global_shape)(index));
    });
  });
}

/// Returns a new View in which each element is its index.
template <class V>
V iota_view(const Extents& shape) {
  const auto view = detail::allocate<V>(shape, "iota");
  fill_iota(view, Extents::filled(shape.size(), 0), shape);
  return view;
}

/// Returns a description of the first element of `view`, the piece `box`, that differs from
/// expected(its global index), or of wrong extents; "" if all are right.
template <class V, class Expected>
std::string wrong_element(const V& view, const Box& box, const Expected& expected) {
  const auto extents = detail::extents_of(view);
  if (extents != box.shape && !(product(extents) == 0 && box.is_empty()))
    return "extents " + to_string(extents) + " instead of " + to_string(box.shape);
  const auto host = on_host(view);
  std::ostringstream text;
  for_each_index_in(box, [&](const Extents& index) {
    const auto value = element_of(host, box.offset, index);
    const auto right = static_cast<std::remove_const_t<typename V::value_type>>(expected(index));
    if (value != right && text.str().empty())
      text << "element " << to_string(index) << " is " << value << " instead of " << right;
  });
  return text.str();
}

/// Checks a local View that holds `piece`, as wrong_element() does.
template <class V, class Expected>
std::string wrong_element(const V& view, const Piece& piece, const Expected& expected) {
  const auto local = [&](const Extents& index) {
    auto global = index;
    for (std::size_t d = 0; d < global.size(); ++d)
      global[d] = piece.sections[d].global_index(index[d]);
    return expected(global);
  };
  const auto shape = piece.shape();
  return wrong_element(view, Box{Extents::filled(shape.size(), 0), shape}, local);
}

/// Checks a full tensor held in one View, as wrong_element() does.
template <class V, class Expected>
std::string wrong_view(const V& view, const Extents& shape, const Expected& expected) {
  return wrong_element(view, Box{Extents::filled(shape.size(), 0), shape}, expected);
}

/// Checks a tensor's local piece, as wrong_element() does. Off the mesh it has to be empty.
template <class V, class Expected>
std::string wrong_piece(const DTensor<V>& tensor, const Expected& expected) {
  if (const auto& coordinate = tensor.device_mesh().coordinate())
    return wrong_element(tensor.to_local(), tensor.spec().sections(*coordinate), expected);
  return V::rank() == 0 || tensor.to_local().size() == 0 ? "" : "not empty off the mesh";
}

/// Returns "" if each element of the local piece is `factor` times its global index.
template <class V>
std::string wrong_iota(const DTensor<V>& tensor, double factor = 1) {
  return wrong_piece(tensor, GlobalIndex(tensor.shape(), factor));
}

/// Returns whether each element of this rank's piece is `factor` times its global index.
template <class V>
bool is_iota(const DTensor<V>& tensor, double factor = 1) {
  return wrong_iota(tensor, factor).empty();
}

}  // namespace tessera::test
