// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <tessera/error/detail/never.hpp>
#include <tessera/tensor/detail/is_dtensor.hpp>
#include <tessera/tensor/execution.hpp>

// Operations that a DTensor does not have. Each of these functions stops the compiler with a sentence that says what
// to write. Its result has the type that the caller expects, so that nothing else is reported.
namespace tessera {

namespace detail {

template <class... T>
concept OneDTensor = (is_dtensor_v<T> || ...);

}  // namespace detail

template <class V, class W>
bool operator==(const DTensor<V>&, const DTensor<W>&) {
  static_assert(
      detail::never<V, W>,
      "a DTensor has no ==: write equal(x, y) for one bool, ops::equal_to(x, y) for one per "
      "element, or x.spec() == y.spec() to compare specs");
  return false;
}

}  // namespace tessera

namespace Kokkos {

template <class A, class B>
requires tessera::detail::OneDTensor<A, B>
void deep_copy(const A&, const B&) {
  static_assert(tessera::detail::never<A, B>,
                "Kokkos::deep_copy takes Views: for a DTensor x write x.to_local(), or "
                "tessera::deep_copy(x, y) for a DTensor or a number y");
}
// Takes an Execution, so that tessera::deep_copy() is the better one where both are found.
template <class A, class B>
requires tessera::detail::OneDTensor<A, B>
void deep_copy(const tessera::Execution&, const A&, const B&) {
  static_assert(tessera::detail::never<A, B>,
                "Kokkos::deep_copy takes Views: for a DTensor x write x.to_local(), or "
                "tessera::deep_copy(exec, x, y) for a DTensor or a number y");
}
template <class V, class... Arguments>
auto create_mirror_view(const tessera::DTensor<V>&, const Arguments&...) {
  static_assert(tessera::detail::never<V>,
                "Kokkos::create_mirror_view takes Views: write "
                "Kokkos::create_mirror_view(x.to_local())");
  return tessera::detail::Unusable();
}
template <class Space, class V>
auto create_mirror_view_and_copy(const Space&, const tessera::DTensor<V>&) {
  static_assert(tessera::detail::never<V>,
                "Kokkos::create_mirror_view_and_copy takes Views: write "
                "Kokkos::create_mirror_view_and_copy(space, x.to_local())");
  return tessera::detail::Unusable();
}
template <class V, class... Arguments>
auto subview(const tessera::DTensor<V>&, const Arguments&...) {
  static_assert(
      tessera::detail::never<V>,
      "Kokkos::subview takes Views: write Kokkos::subview(x.to_local(), ...), with the local "
      "indices of this rank");
  return tessera::detail::Unusable();
}

}  // namespace Kokkos
