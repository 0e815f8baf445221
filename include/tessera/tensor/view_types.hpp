// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/error/detail/never.hpp>
#include <tessera/extents/element_type.hpp>
#include <tessera/extents/extents.hpp>

namespace tessera {

/// A LocalView is any Kokkos::View of rank 0 to 8: the type of a tensor's local pieces.
template <class V>
concept LocalView = Kokkos::is_view_v<V> && V::rank()
<= max_tensor_dims;

namespace detail {

/// Tells the same as LocalView. In a static_assert it gives one line, where the concept gives many.
template <class V>
inline constexpr bool is_local_view = LocalView<V>;

/// Names the element type of a View; V itself if V is no View, so that such a mistake is reported
/// once.
template <class V>
struct ElementOf {
  using type = V;
};
template <LocalView V>
struct ElementOf<V> {
  using type = typename V::value_type;
};
template <class V>
inline constexpr std::size_t rank_of = 0;
template <LocalView V>
inline constexpr std::size_t rank_of<V> = V::rank();
template <class V>
using element_of = typename ElementOf<V>::type;

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

/// Tells whether elements of V can become those of W: they have one type, or are numbers that convert.
template <LocalView V, LocalView W>
inline constexpr bool elements_convert =
    std::is_same_v<typename V::non_const_value_type, typename W::non_const_value_type> ||
    converts_to(element_kind<typename V::non_const_value_type>,
                element_kind<typename W::non_const_value_type>);

/// Names the View type of results. If Out cannot be one, it stops the compiler with a sentence, and
/// names the type without Out, so that nothing else is reported.
template <class V, class Out = void>
struct Redistributed {
  static_assert(never<Out>,
                "redistribute<Out>: expected a Kokkos::View type as Out, such as "
                "redistribute<Kokkos::View<double**>>(x, {Shard(0)})");
  using type = typename Redistributed<V>::type;
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
template <class V, LocalView Out>
struct Redistributed<V, Out> {
  static constexpr bool is_of_same_elements = elements_convert<V, Out>;
  static constexpr bool is_of_same_rank = Out::rank() == V::rank();
  static_assert(is_of_same_elements,
                "redistribute<Out>: expected a View with the element type of the tensor as Out, or "
                "with a number type to which it converts (complex numbers do not become real)");
  static_assert(is_of_same_rank,
                "redistribute<Out>: expected a View with as many dims as the tensor as Out");
  static_assert(is_allocatable<Out>,
                "redistribute<Out>: expected a managed, non-const View in LayoutLeft or "
                "LayoutRight as Out");
  using type =
      typename std::conditional_t<is_of_same_elements && is_of_same_rank && is_allocatable<Out>,
                                  std::type_identity<Out>, Redistributed<V>>::type;
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
