// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <tessera/sharding/detail/shapes.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/permute.hpp>

namespace tessera {

/// All is the type of `all`.
struct All {
  constexpr explicit All() = default;
};
/// `all` takes a whole dim in slice(), as Kokkos::ALL does. Programs for CUDA write `tessera::all`: nvcc
/// has a function of that name.
inline constexpr All all{};

/// A Range takes the indices from `begin` up to, but not including, `end` in slice(). Negative numbers
/// count from the end of the dim.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

namespace detail {

/// Is the type of an argument of slice() in braces, and of one that is not given.
struct RangeInBraces {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_given = false;

  constexpr RangeInBraces() = default;
  constexpr RangeInBraces(std::int64_t first, std::int64_t last)
      : begin(first), end(last), is_given(true) {}
};

template <class T>
concept SliceArgument = std::integral<T> || std::same_as<T, Range> || std::same_as<T, All> ||
    std::same_as<T, Kokkos::ALL_t> || std::same_as<T, RangeInBraces>;

inline SlicedDim sliced_dim(All, std::int64_t extent) {
  return {{0, extent}};
}
inline SlicedDim sliced_dim(const Kokkos::ALL_t&, std::int64_t extent) {
  return {{0, extent}};
}
inline SlicedDim sliced_dim(const Range& range, std::int64_t extent) {
  const auto from_front = [&](std::int64_t index) { return index < 0 ? index + extent : index; };
  return {{from_front(range.begin), from_front(range.end)}};
}
inline SlicedDim sliced_dim(const RangeInBraces& range, std::int64_t extent) {
  return sliced_dim(Range{range.begin, range.end}, extent);
}
template <std::integral I>
SlicedDim sliced_dim(I index, std::int64_t extent) {
  auto begin = static_cast<std::int64_t>(index);
  if (begin < 0) begin += extent;
  return {{begin, begin + 1}, true};
}

template <class T>
bool is_given(const T&) {
  return true;
}
inline bool is_given(const RangeInBraces& range) {
  return range.is_given;
}

/// Throws unless there is one argument for each dim. `given` says which of 8 arguments there are.
void require_one_per_dim(const std::array<bool, max_tensor_dims>& given, std::size_t dims);

/// Returns the argument of Kokkos::subview that takes a part of a local piece.
template <class Argument>
auto subview_argument(const Box& part, std::size_t dim) {
  const auto first = static_cast<std::size_t>(part.offset[dim]);
  if constexpr (std::integral<Argument>)
    return first;
  else
    return std::pair(first, first + static_cast<std::size_t>(part.shape[dim]));
}

/// Names what slice() of a DTensor<V> makes of its arguments, of which there is one for each number of
/// Dims.
template <class V, class Arguments, class Dims = std::make_index_sequence<V::rank()>>
struct Slicing;
template <class V, class Arguments, std::size_t... Dims>
struct Slicing<V, Arguments, std::index_sequence<Dims...>> {
  static constexpr std::size_t rank =
      (std::size_t{0} + ... + (std::integral<std::tuple_element_t<Dims, Arguments>> ? 0 : 1));
  using View =
      Kokkos::View<typename DynamicData<typename V::value_type, rank>::type, Kokkos::LayoutStride,
                   typename V::device_type, typename V::memory_traits>;

  static DTensor<View> slice(const DTensor<V>& tensor, const Arguments& arguments) {
    const std::vector<SlicedDim> dims{
        sliced_dim(std::get<Dims>(arguments), tensor.shape()[Dims])...};
    auto spec = sliced_spec(tensor.spec(), dims);
    const auto& coordinate = tensor.device_mesh().coordinate();
    if (!coordinate) return DTensorAccess::make_within(View(), std::move(spec), tensor);
    const auto part = slice_of_piece(tensor.spec(), dims, *coordinate);
    const View view = Kokkos::subview(
        tensor.to_local(), subview_argument<std::tuple_element_t<Dims, Arguments>>(part, Dims)...);
    return DTensorAccess::make_within(view, std::move(spec), tensor);
  }
};

}  // namespace detail

/// Names the View type of slice() of a DTensor<V>, which is strided, with these argument types.
template <LocalView V, class... Arguments>
using sliced_view_t = typename detail::Slicing<V, std::tuple<Arguments...>>::View;

/// Returns a part of the tensor, which shares its memory: each rank has there what it has of the
/// tensor, so that nothing moves. There is one argument for each dim: `all`, a range such as {2, 5},
/// or an index, which drops the dim. Negative numbers count from the end of the dim.
///
/// Sharded dims keep their ownership: of Shard and Balanced, the slice is a Shard with boundaries; of
/// Cyclic and HeadTail, its spec says of which longer dim it is a part. Slices can be the source and
/// the destination of redistribute_into(), which then copies box to box.
///
/// Example: slice(t, all, {10, 20}, 3) of a tensor of 3 dims has 2 dims, the second of extent 10.
/// Local. Errors: InvalidArgument for another number of arguments than dims, for a range or an index
///        outside the dim, and for an index of a dim that is sharded, since no placement says that one
///        coordinate alone has a tensor: a range of one index keeps the dim, and fetch() brings its
///        values to every rank.
template <LocalView V, detail::SliceArgument A = detail::RangeInBraces,
          detail::SliceArgument B = detail::RangeInBraces,
          detail::SliceArgument C = detail::RangeInBraces,
          detail::SliceArgument D = detail::RangeInBraces,
          detail::SliceArgument E = detail::RangeInBraces,
          detail::SliceArgument F = detail::RangeInBraces,
          detail::SliceArgument G = detail::RangeInBraces,
          detail::SliceArgument H = detail::RangeInBraces>
DTensor<sliced_view_t<V, A, B, C, D, E, F, G, H>> slice(const DTensor<V>& tensor, const A& a,
                                                        const B& b = B(), const C& c = C(),
                                                        const D& d = D(), const E& e = E(),
                                                        const F& f = F(), const G& g = G(),
                                                        const H& h = H()) {
  static_assert(V::rank() >= 1, "slice: expected a tensor of at least 1 dim");
  return detail::named("slice", [&] {
    detail::require_one_per_dim(
        {detail::is_given(a), detail::is_given(b), detail::is_given(c), detail::is_given(d),
         detail::is_given(e), detail::is_given(f), detail::is_given(g), detail::is_given(h)},
        V::rank());
    return detail::Slicing<V, std::tuple<A, B, C, D, E, F, G, H>>::slice(
        tensor, std::tuple(a, b, c, d, e, f, g, h));
  });
}

}  // namespace tessera
