// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include <tessera/ops/detail/call.hpp>
#include <tessera/ops/detail/elementwise_kernel.hpp>
#include <tessera/ops/detail/misuse.hpp>
#include <tessera/tensor/detail/index_map.hpp>

namespace tessera::detail {

/// Returns what all calls of map() have in common, or of map_into(), whose first operand is the result.
const OperatorInfo& map_info();
const OperatorInfo& map_into_info();

/// Returns the loops of a kernel over local pieces: as few as possible, or one for each dim of the result.
ElementwiseLoops map_loops(const Execution& execution, std::span<const ArrayRef> operands,
                           const ArrayRef& result, bool simplifies);

/// Calls function(index, elements…) for each element of a local piece.
template <std::size_t N, class Function, class Out, class... In>
struct MapWithIndex {
  Loops loops;  ///< loops over the dims in the order of `dims`
  Kokkos::Array<int, N> dims;
  Kokkos::Array<IndexMap, N> maps;
  std::byte* result;
  Kokkos::Array<const std::byte*, sizeof...(In) + 1> data;
  Kokkos::Array<LoopArray, sizeof...(In) + 1> strides;  ///< strides of the result first
  Function function;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto item = loops.item(i);
    const auto begin = item.index[loops.ndims - 1];
    for (std::int64_t k = 0; k < item.length; ++k) {
      item.index[loops.ndims - 1] = begin + k;
      compute(item, std::index_sequence_for<In...>());
    }
  }

 private:
  template <std::size_t... I>
  KOKKOS_FUNCTION void compute(const Loops::Item& item, std::index_sequence<I...>) const {
    Kokkos::Array<std::int64_t, N> index{};
    for (std::size_t d = 0; d != N; ++d)
      index[static_cast<std::size_t>(dims[d])] =
          maps[static_cast<std::size_t>(dims[d])].global_index(item.index[d]);
    *reinterpret_cast<Out*>(result + loops.offset(item, strides[0])) = function(
        index, *reinterpret_cast<const In*>(data[I] + loops.offset(item, strides[I + 1]))...);
  }
};

template <class Out, class... In, std::size_t N, class Function>
void run_map_with_index(const Execution& execution, const PreparedCall& call,
                        const ElementwiseLoops& plan, std::integral_constant<std::size_t, N>,
                        bool is_left, const Function& function) {
  MapWithIndex<N, Function, Out, In...> kernel{{}, {}, {}, plan.result, {}, {}, function};
  Extents extents = plan.extents;
  std::array<Extents, sizeof...(In) + 1> strides;
  for (std::size_t k = 0; k <= sizeof...(In); ++k) strides[k] = plan.strides[k];
  for (std::size_t d = 0; d != N; ++d) {
    const auto dim = is_left ? N - 1 - d : d;
    kernel.dims[d] = static_cast<int>(dim);
    extents[d] = plan.extents[dim];
    for (std::size_t k = 0; k <= sizeof...(In); ++k) strides[k][d] = plan.strides[k][dim];
    kernel.maps[d] = index_map_of(call, d);
  }
  const bool on_device = is_on_device(plan.space);
  kernel.loops = make_loops(extents, on_device ? 1 : elementwise_chunk);
  for (std::size_t k = 0; k < sizeof...(In); ++k) kernel.data[k] = plan.data[k];
  for (std::size_t k = 0; k <= sizeof...(In); ++k) kernel.strides[k] = loop_strides(strides[k]);
  if (on_device)
    launch_on_device(execution, "tessera::map_with_index", kernel.loops.items(), kernel);
  else
    launch_on_host(execution, "tessera::map_with_index", kernel.loops.items(),
                   product(plan.extents) * std::int64_t{sizeof(Out)}, kernel);
}

/// Tells whether map() can call the function.
template <bool HasIndex, class Function, std::size_t N, class... T>
inline constexpr bool is_mappable =
    HasIndex ? std::is_invocable_v<const Function&, Kokkos::Array<std::int64_t, N>&, const T&...>
             : std::is_invocable_v<const Function&, const T&...>;

/// Names the element type that map() gives.
template <class R, bool HasIndex, class Function, std::size_t N, class... T>
consteval auto mapped_element() {
  using Index = Kokkos::Array<std::int64_t, N>;
  constexpr bool is_callable = is_mappable<HasIndex, Function, N, T...>;
  static_assert(
      is_callable,
      "map: expected a function of one element of each operand (map_with_index: of the index "
      "first); a lambda must not be mutable");
  if constexpr (!std::is_void_v<R> || !is_callable)
    return std::type_identity<std::conditional_t<std::is_void_v<R>, double, R>>{};
  else if constexpr (HasIndex)
    return std::type_identity<
        std::remove_cvref_t<std::invoke_result_t<const Function&, Index&, const T&...>>>{};
  else
    return std::type_identity<
        std::remove_cvref_t<std::invoke_result_t<const Function&, const T&...>>>{};
}

template <class R, bool HasIndex, class Function, class... V>
auto call_map(const Execution& execution, const Function& function, const DTensor<V>&... operands) {
  static_assert(sizeof...(V) >= 1 && sizeof...(V) <= most_kernel_operands,
                "map takes 1 to 4 tensors; combine two of them first, or use local_map");
  constexpr std::size_t rank = std::max({std::size_t{V::rank()}...});
  using Out =
      typename decltype(mapped_element<R, HasIndex, Function, rank,
                                       std::remove_const_t<typename V::value_type>...>())::type;
  using Result = typename ElementwiseView<Out, DTensor<V>...>::type;
  if constexpr (!is_mappable<HasIndex, Function, rank,
                             std::remove_const_t<typename V::value_type>...>) {
    return DTensor<Result>();
  } else {
    const std::array refs{operand_ref<Out>(operands)...};
    const CallRequest request{map_info(), refs, element_type<Out>()};
    const auto& mesh = common_mesh(request);
    const auto prepared = prepare(mesh, request);
    auto result = result_tensor<Result>(execution, mesh, *prepared, "tessera::map");
    const auto kernel = [&](std::span<const ArrayRef> arrays, const ArrayRef& to) {
      if (to.size() == 0) return;
      if constexpr (HasIndex) {
        constexpr bool is_left = std::is_same_v<typename Result::array_layout, Kokkos::LayoutLeft>;
        run_map_with_index<Out, std::remove_const_t<typename V::value_type>...>(
            execution, *prepared, map_loops(execution, arrays, to, false),
            std::integral_constant<std::size_t, rank>(), is_left, function);
      } else {
        run_elementwise_kernel<Out, std::remove_const_t<typename V::value_type>...>(
            execution, "tessera::map", map_loops(execution, arrays, to, true), function);
      }
    };
    run(execution, *prepared, request, array_ref(result.to_local()), kernel,
        [&] { return held_all(result, operands...); });
    return result;
  }
}

template <class W, class Function, class... V>
void call_map_into(const Execution& execution, const DTensor<W>& result, const Function& function,
                   const DTensor<V>&... operands) {
  static_assert(!std::is_const_v<typename W::value_type>,
                "map_into: expected a result that can be written");
  static_assert(sizeof...(V) >= 1 && sizeof...(V) <= most_kernel_operands,
                "map_into takes 1 to 4 tensors besides the result");
  static_assert(
      is_mappable<false, Function, 0, std::remove_const_t<typename V::value_type>...>,
      "map_into: expected a function of one element of each operand; a lambda must not be "
      "mutable");
  using Out = typename W::value_type;
  const std::array refs{operand_ref<Out>(result), operand_ref<Out>(operands)...};
  const CallRequest request{map_into_info(), refs, element_type<Out>()};
  const auto prepared = prepare(common_mesh(request), request);
  require_in_place(*prepared, request);
  const auto kernel = [&](std::span<const ArrayRef> arrays, const ArrayRef& to) {
    if (to.size() == 0) return;
    run_elementwise_kernel<Out, std::remove_const_t<typename V::value_type>...>(
        execution, "tessera::map_into", map_loops(execution, arrays.subspan(1), to, true),
        function);
  };
  run(execution, *prepared, request, array_ref(result.to_local()), kernel,
      [&] { return held_all(result, operands...); });
}

}  // namespace tessera::detail
