// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/extents/extents.hpp>

namespace tessera {

/// A LocalView is any Kokkos::View of rank 0 to 8: the type of a tensor's local pieces.
template <class V>
concept LocalView = Kokkos::is_view_v<V> && V::rank()
<= max_tensor_dims;

namespace detail {

template <class Layout>
inline constexpr bool is_dense_layout =
    std::is_same_v<Layout, Kokkos::LayoutLeft> || std::is_same_v<Layout, Kokkos::LayoutRight>;

/// Tells whether the library can allocate a View of type V.
template <class V>
inline constexpr bool is_allocatable = false;
template <LocalView V>
inline constexpr bool is_allocatable<V> =
    !V::traits::memory_traits::is_unmanaged && !std::is_const_v<typename V::value_type> &&
    is_dense_layout<typename V::array_layout>;

template <class V, class Out>
struct Redistributed {
  static_assert(LocalView<Out>, "expected a Kokkos::View as the type of the result");
  static_assert(
      std::is_same_v<typename Out::value_type, std::remove_const_t<typename V::value_type>>,
      "expected a result of the tensor's element type: elements move as they are");
  static_assert(Out::rank() == V::rank(), "expected a result of the tensor's rank");
  using type = Out;
};
template <class V>
struct Redistributed<V, void> {
  using Layout = std::conditional_t<is_dense_layout<typename V::array_layout>,
                                    typename V::array_layout, Kokkos::LayoutRight>;
  using type = Kokkos::View<typename V::non_const_data_type, Layout, typename V::device_type>;
};
template <class V>
requires is_allocatable<V>
struct Redistributed<V, void> {
  using type = V;
};

}  // namespace detail

/// Names the View type of a result of redistribute<Out>() of a DTensor<V>, and of all other calls
/// that make new memory for the values of a V. It is Out, if that is given. Otherwise it is V if
/// the library can allocate V, which is managed, non-const and LayoutLeft or LayoutRight; if not,
/// it is the managed, non-const type with the same elements, static extents and memory, with
/// LayoutRight in place of LayoutStride.
template <LocalView V, class Out = void>
using redistributed_view_t = typename detail::Redistributed<V, Out>::type;

}  // namespace tessera
