// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <tessera/sharding/detail/shapes.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

namespace detail {

/// Names T with one * for each dim.
template <class T, std::size_t Dims>
struct DynamicData {
  using type = typename DynamicData<T, Dims - 1>::type*;
};
template <class T>
struct DynamicData<T, 0> {
  using type = T;
};

}  // namespace detail

/// Names the View type of a tensor that shares the memory of a DTensor<V> with its dims in another
/// order. It does not own the memory; the tensor does.
template <LocalView V>
using permuted_view_t =
    Kokkos::View<typename detail::DynamicData<typename V::value_type, V::rank()>::type,
                 Kokkos::LayoutStride, typename V::device_type,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Returns the tensor with its dims in another order: dim d of the result is dim order[d] of `tensor`.
/// No element moves or is copied, and placements follow their dims. The result keeps the memory; its
/// View alone does not. To store elements in their new order, or to distribute them anew,
/// redistribute() the result: that is one exchange.
///
/// Example: of (4, 6) as S(0), permute(t, {1, 0}) is (6, 4) as S(1).
/// Local. Errors: InvalidArgument unless `order` names each dim once; a negative dim counts from the
///        last one.
template <LocalView V>
DTensor<permuted_view_t<V>> permute(const DTensor<V>& tensor, const std::vector<int>& order) {
  using Result = permuted_view_t<V>;
  return detail::named("permute", [&] {
    auto spec = detail::permuted_spec(tensor.spec(), order);
    const auto dims = detail::resolved_order(order, static_cast<int>(V::rank()));
    const auto& view = tensor.to_local();
    Kokkos::LayoutStride layout;
    for (std::size_t d = 0; d != V::rank(); ++d) {
      const auto from = static_cast<std::size_t>(dims[d]);
      layout.dimension[d] = view.extent(from);
      layout.stride[d] = view.stride(from);
    }
    return detail::DTensorAccess::make_within(Result(view.data(), layout), std::move(spec), tensor);
  });
}

/// Returns the tensor with two dims exchanged, the last two by default: the transpose of a matrix. No
/// element moves, see permute().
///
/// Local. Errors: InvalidArgument for a dim out of range, and for a tensor of fewer than 2 dims.
template <LocalView V>
DTensor<permuted_view_t<V>> transpose(const DTensor<V>& tensor, int first = -2, int second = -1) {
  static_assert(V::rank() >= 2, "transpose: expected a tensor of at least 2 dims");
  const auto order = detail::named("transpose", [&] {
    std::vector<int> dims(V::rank());
    for (std::size_t d = 0; d != V::rank(); ++d) dims[d] = static_cast<int>(d);
    std::swap(dims[static_cast<std::size_t>(detail::dim_of(tensor.shape(), first))],
              dims[static_cast<std::size_t>(detail::dim_of(tensor.shape(), second))]);
    return dims;
  });
  return permute(tensor, order);
}

}  // namespace tessera
