// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include <tessera/ops/detail/reduction.hpp>
#include <tessera/sharding/sections.hpp>

namespace tessera {

namespace detail {

const OperatorInfo& take_info();

/// Returns the shape of the result: that of the table, with the shape of the indices in place of
/// `dim`.
Extents take_shape(const Extents& table, const Extents& indices, std::int64_t dim);

/// Copies elements of local pieces: result[…, i…, …] = table[…, indices[i…], …], where the indices
/// replace dim `dim`, and 0 where this rank lacks the index. `table_indices` are the global indices
/// that this rank has along `dim`, which has `extent` of them. Errors: InvalidArgument for an index
/// that is not in [-extent, extent).
void run_take(const Execution& execution, const ArrayRef& table, const ArrayRef& indices,
              const Sections& table_indices, std::int64_t extent, std::int64_t dim,
              const ArrayRef& result);

/// Tells whether T is an integer that counts elements; bool is none.
template <class T>
inline constexpr bool is_index_v = IntegerNumber<T> && !std::is_same_v<T, bool>;

/// Tells whether A and B are two tensors, or two Views.
template <class A, class B>
inline constexpr bool are_tensors_or_views = (is_dtensor_v<A> && is_dtensor_v<B>) ||
                                             (is_local_view<A> && is_local_view<B>);

template <class A, class B>
consteval bool expect_take() {
  constexpr bool are_alike = are_tensors_or_views<A, B>;
  static_assert(are_alike, "take expects a table and indices that are two tensors, or two Views");
  if constexpr (are_alike) {
    constexpr bool are_indices = is_index_v<typename OperandElement<B>::type>;
    constexpr bool have_dims =
        operand_rank < A >> 0 && operand_rank<A> + operand_rank<B> <= max_tensor_dims + 1;
    constexpr bool is_one_space =
        is_in_space_of<typename OperandView<A>::type, typename OperandView<B>::type>;
    static_assert(are_indices, "take expects indices that are integers");
    static_assert(have_dims,
                  "take expects a table of at least one dim, and a result of at most 8 dims");
    static_assert(is_one_space, "take expects a table and indices in one memory space");
    return are_indices && have_dims && is_one_space;
  }
  return false;
}

/// Names the View type of the result.
template <class V, class I>
using taken_view_t =
    view_like_t<V, std::remove_const_t<typename V::value_type>, V::rank() - 1 + I::rank()>;

template <class V, class I>
auto call_take(const Execution& execution, const DTensor<V>& table, const DTensor<I>& indices,
               int dim) {
  using T = std::remove_const_t<typename V::value_type>;
  using Index = std::remove_const_t<typename I::value_type>;
  const auto& info = take_info();
  const auto dims = named(info.function.text,
                          [&] { return reduced_dims(std::array{dim}, false, V::rank()).dims; });
  const std::array operands{operand_ref<T>(table), operand_ref<Index>(indices)};
  const CallRequest request{info, operands, element_type<T>(), dims};
  const auto kernel = [&](const PreparedCall& call, std::span<const ArrayRef> arrays,
                          const ArrayRef& to) {
    const auto at = static_cast<std::size_t>(dims[0]);
    const auto piece = input_of(call, 0).sections(*table.device_mesh().coordinate());
    run_take(execution, arrays[0], arrays[1], piece.sections[at], table.shape()[at], dims[0], to);
  };
  return call_with_kernel<taken_view_t<V, I>>(execution, request, kernel, table, indices);
}
template <LocalView V, LocalView I>
auto call_take(const Execution& execution, const V& table, const I& indices, int dim) {
  const auto& info = take_info();
  return named(info.function.text, [&] {
    const auto at = reduced_dims(std::array{dim}, false, V::rank()).dims[0];
    const auto shape = extents_of(table);
    const auto extent = shape[static_cast<std::size_t>(at)];
    auto result =
        allocate<taken_view_t<V, I>>(take_shape(shape, extents_of(indices), at), info.label);
    run_take(execution, array_ref(table), array_ref(indices), Sections(Interval{0, extent}), extent,
             at, array_ref(result));
    return result;
  });
}

/// Calls take: a function object.
struct TakeOperator {
  template <class A, class B>
  requires(!is_execution<A>) auto operator()(const A& table, const B& indices, int dim = 0) const {
    return apply_op(*this, Execution(), table, indices, dim);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class B>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& table, const B& indices, int dim = 0) const {
    return apply_op(*this, Execution(exec), table, indices, dim);
  }
};

template <class A, class B>
auto apply_op(const TakeOperator&, const Execution& execution, const A& table, const B& indices,
              int dim) {
  if constexpr (expect_take<A, B>()) return call_take(execution, table, indices, dim);
}

inline const char* operator_name(const TakeOperator&) {
  return "take";
}

}  // namespace detail

namespace ops {

/// Returns the elements of a table whose indices along a dim are given: take(table, indices),
/// take(table, indices, dim), or with an execution space instance first. Both are tensors, or both
/// are Views of this rank. Indices are integers of any type; negative ones count from the end. They
/// may repeat.
///
/// Example:    take(table, indices) of rows {5, 0, 5} of a table (6, 2) has shape (3, 2).
/// Shapes:     table (…, n, …) with extent n along dim, indices (i, …) → result (…, i, …, …): the
///             dims of the indices stand where the dim was.
/// Result:     a tensor in the layout of the table. Where the table is split along the dim, it is
///             P(sum), or P(bor) of bool: each rank gives the elements that it has, and 0
///             elsewhere; nothing travels until the result is reduced, which makes 0 of -0. Where the table is split
///             along another dim, or the indices along any dim, the result is split alike. A
///             Partial table gives a result with the same Partial; Partial indices are reduced
///             first.
/// Collective: where Partial indices are reduced, or operands move by RedistributionScope;
///             otherwise local.
/// Errors:     InvalidArgument for a dim out of range; MeshMismatch for tensors on different
///             meshes; PlacementMismatch for a table and indices that are split along one mesh dim,
///             and for a table of elements that cannot be added, such as structs, that is split
///             along the dim. InvalidArgument for an index that is not in [-n, n), on the ranks
///             that have it, before anything is written; in memory of a device, which the host does
///             not read, such an index aborts the program.
inline constexpr detail::TakeOperator take;

}  // namespace ops
}  // namespace tessera
