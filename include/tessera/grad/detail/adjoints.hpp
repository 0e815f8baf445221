// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <tessera/grad/detail/record.hpp>
#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/factories.hpp>
#include <tessera/ops/reductions.hpp>
#include <tessera/tensor/permute.hpp>

// Adjoints are written with operators on whole arrays, for tensors and for Views alike.
namespace tessera::detail {

/// Returns the complex conjugate; real operands as they are.
template <class A>
auto conjugate(const A& operand) {
  if constexpr (is_number_v<A>) {
    if constexpr (ComplexNumber<A>)
      return A(operand.real(), -operand.imag());
    else
      return operand;
  } else if constexpr (ComplexNumber<typename OperandElement<A>::type>) {
    return ops::conj(operand);
  } else {
    return operand;
  }
}

/// Returns the sum of a gradient over the dims along which an operand of this form was stretched.
template <class X, class G>
gradient_t<X> unstretched(const Form<X>& form, const G& gradient) {
  constexpr auto rank = operand_rank<X>, leading = operand_rank<G> - rank;
  if constexpr (leading > 0) {
    const auto dims = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Dims<leading>(static_cast<int>(I)...);
    }
    (std::make_index_sequence<leading>());
    return unstretched(form, ops::sum(gradient, dims));
  } else {
    auto result = as_gradient<X>(gradient);
    const auto &shape = form.shape(), stretched = shape_of(gradient);
    for (std::size_t d = 0; d < rank; ++d)
      if (shape[d] == 1 && stretched[d] != 1)
        result = as_gradient<X>(ops::sum(result, KeepDims<1>(static_cast<int>(d))));
    return result;
  }
}

/// Returns `spec` with dims of extent 1 at these positions of the result, ascending.
DTensorSpec with_dims(const DTensorSpec& spec, std::span<const std::int64_t> dims);

/// Names a View of N dims on memory of a V, which it does not own.
template <class V, std::size_t N>
using within_view_t =
    Kokkos::View<typename DynamicData<typename V::value_type, N>::type, Kokkos::LayoutStride,
                 typename V::device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Returns the array with dims of extent 1 at these positions of the result, ascending; no element moves.
/// The result of a View does not own the memory.
template <std::size_t N, class A>
auto with_dims(const A& array, std::span<const std::int64_t> dims) {
  if constexpr (is_dtensor_v<A>) {
    using Result = within_view_t<typename A::view_type, N>;
    const auto view = with_dims<N>(array.to_local(), dims);
    return DTensorAccess::make_within(Result(view), with_dims(array.spec(), dims), array);
  } else {
    Kokkos::LayoutStride layout;
    std::size_t from = 0;
    for (std::size_t d = 0, next = 0; d < N; ++d) {
      const bool is_new = next < dims.size() && dims[next] == static_cast<std::int64_t>(d);
      layout.dimension[d] = is_new ? 1 : array.extent(from);
      layout.stride[d] = is_new ? 1 : array.stride(from);
      if (is_new)
        ++next;
      else
        ++from;
    }
    return within_view_t<A, N>(array.data(), layout);
  }
}

/// Returns a result of a reduction over these dims so that it broadcasts to the shape of the operand.
template <std::size_t Rank, class A, class D>
auto kept(const A& result, const D& over) {
  constexpr auto rank = operand_rank<A>;
  if constexpr (rank == Rank || rank == 0) {
    return result;  // its dims are there, or all of them were reduced
  } else {
    const auto dims = reduced_dims_of(over, Rank).dims;
    return with_dims<Rank>(result, std::span(dims.begin(), dims.size()));
  }
}

/// Returns an array of this form with values that broadcast to it.
template <class X, class G>
gradient_t<X> stretched(const Form<X>& form, const G& values) {
  return as_gradient<X>(ops::add(form.zeros(), values));
}

/// Returns the array with elements of type T. Contributions to integers are reduced first.
template <class T, class A>
auto with_elements(const A& array) {
  const auto values = whole(Execution(), array);
  if constexpr (is_dtensor_v<A>)
    return to<T>(values);
  else
    return copied_view<view_like_t<A, T, A::rank()>>(values);
}

}  // namespace tessera::detail
