// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include <tessera/ops/reductions.hpp>
#include <tessera/sharding/sections.hpp>

/// These operators take and make diagonals, triangles and outer products of matrices.
///
/// A diagonal has an offset k: it consists of the elements x(i, i + k). It is the main diagonal for
/// k = 0, lies above it for k > 0, and below it for k < 0. Elements are numbers or bool. Zeros that
/// fill a result are +0, or false; where a P(sum) is reduced, an element -0 becomes 0.
///
/// Result:     a tensor in the layout of the first operand; tril and triu keep the View type where
///             the library can allocate it. Each operator says which placements the result has.
/// Collective: where a Partial tensor is reduced first, or operands move by RedistributionScope;
///             otherwise local.
/// Errors:     InvalidArgument for an empty DTensor; PlacementMismatch for a Partial tensor that
///             must be reduced first, under RedistributionScope(Redistribution::none).
namespace tessera {

namespace detail {

enum class MatrixOp : std::uint8_t { diag, tril, triu, outer };

const OperatorInfo& matrix_info(MatrixOp op);

/// Returns the shape of what diag, tril or triu gives. Errors: InvalidArgument if the result of
/// diag is too large.
Extents matrix_shape(MatrixOp op, const Extents& shape, std::int64_t offset);

/// Returns the piece that is a whole array of this shape.
Piece whole_piece(const Extents& shape);

/// Computes diag, tril or triu on local pieces; the Pieces say which global indices these have.
/// Elements of the result that this rank does not hold of the operand are 0.
void run_matrix_op(const Execution& execution, MatrixOp op, std::int64_t offset,
                   const ArrayRef& operand, const Piece& operand_piece, const ArrayRef& result,
                   const Piece& result_piece);

/// Multiplies each element of `x` by each of `y`.
void run_outer(const Execution& execution, const ArrayRef& x, const ArrayRef& y,
               const ArrayRef& result);

template <MatrixOp op, class A>
consteval bool expect_matrix() {
  constexpr auto rank = operand_rank<A>;
  constexpr bool has_rank = op == MatrixOp::diag ? rank == 1 || rank == 2 : rank >= 2;
  static_assert(has_rank || op != MatrixOp::diag, "diag takes a tensor of 1 or 2 dims");
  static_assert(has_rank || op == MatrixOp::diag,
                "tril and triu take a tensor of at least 2 dims: the last two are the matrix");
  constexpr bool has_numbers =
      element_kind<typename OperandElement<A>::type> != ElementKind::opaque;
  static_assert(has_numbers, "an operator takes tensors whose elements are numbers or bool");
  return has_rank && has_numbers;
}

/// Names the View type of a result.
template <MatrixOp op, class V>
struct MatrixView : ElementwiseView<std::remove_const_t<typename V::value_type>, V> {};
template <class V>
struct MatrixView<MatrixOp::diag, V> {
  using type = view_like_t<V, std::remove_const_t<typename V::value_type>, 3 - V::rank()>;
};

template <MatrixOp op, LocalView V>
auto call_matrix_op(const Execution& execution, const DTensor<V>& tensor, std::int64_t offset) {
  using T = std::remove_const_t<typename V::value_type>;
  const std::array operands{operand_ref<T>(tensor)};
  const std::array attributes{OperatorAttribute{"offset", offset}};
  const CallRequest request{matrix_info(op), operands, element_type<T>(), {}, false, attributes};
  const auto kernel = [&](const PreparedCall& call, std::span<const ArrayRef> arrays,
                          const ArrayRef& to) {
    const auto& coordinate = *tensor.device_mesh().coordinate();
    run_matrix_op(execution, op, offset, arrays[0], input_of(call, 0).sections(coordinate), to,
                  output_of(call).sections(coordinate));
  };
  return call_with_kernel<typename MatrixView<op, V>::type>(execution, request, kernel, tensor);
}
template <MatrixOp op, LocalView V>
auto call_matrix_op(const Execution& execution, const V& view, std::int64_t offset) {
  const auto& info = matrix_info(op);
  return named(info.function.text, [&] {
    const auto shape = extents_of(view);
    const auto result_shape = matrix_shape(op, shape, offset);
    auto result = allocate<typename MatrixView<op, V>::type>(result_shape, info.label);
    run_matrix_op(execution, op, offset, array_ref(view), whole_piece(shape), array_ref(result),
                  whole_piece(result_shape));
    return result;
  });
}

template <class V, class W>
using outer_element_t = typename ElementwiseTypes<ElementwiseOp::multiply, V, W>::Operand;

template <LocalView V, LocalView W>
auto call_outer(const Execution& execution, const DTensor<V>& x, const DTensor<W>& y) {
  using T = outer_element_t<V, W>;
  const std::array operands{operand_ref<T>(x), operand_ref<T>(y)};
  const CallRequest request{matrix_info(MatrixOp::outer), operands, element_type<T>()};
  const auto kernel = [&](const PreparedCall&, std::span<const ArrayRef> arrays,
                          const ArrayRef& to) { run_outer(execution, arrays[0], arrays[1], to); };
  return call_with_kernel<view_like_t<V, T, 2>>(execution, request, kernel, x, y);
}
template <LocalView V, LocalView W>
auto call_outer(const Execution& execution, const V& x, const W& y) {
  const auto& info = matrix_info(MatrixOp::outer);
  return named(info.function.text, [&] {
    const Extents shape{static_cast<std::int64_t>(x.extent(0)),
                        static_cast<std::int64_t>(y.extent(0))};
    auto result = allocate<view_like_t<V, outer_element_t<V, W>, 2>>(shape, info.label);
    run_outer(execution, array_ref(x), array_ref(y), array_ref(result));
    return result;
  });
}

/// Calls diag, tril or triu: a function object.
template <MatrixOp op>
struct MatrixOperator {
  template <class A>
  requires(!is_execution<A>) auto operator()(const A& operand, std::int64_t offset = 0) const {
    return apply_op(*this, Execution(), operand, offset);
  }
  /// Orders the work on `exec`.
  template <class Space, class A>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& operand, std::int64_t offset = 0) const {
    return apply_op(*this, Execution(exec), operand, offset);
  }
};

template <MatrixOp op, class A>
auto apply_op(const MatrixOperator<op>&, const Execution& execution, const A& operand,
              std::int64_t offset) {
  if constexpr (expect_matrix<op, A>()) return call_matrix_op<op>(execution, operand, offset);
}

struct TraceOperator {
  template <class A>
  requires(!is_execution<A>) auto operator()(const A& operand) const {
    return (*this)(Execution(), operand);
  }
  /// Orders the work on `exec`.
  template <class Space, class A>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& operand) const {
    static_assert(operand_rank<A> == 2, "trace takes a tensor of 2 dims");
    if constexpr (operand_rank<A> == 2)
      return ops::sum(exec, MatrixOperator<MatrixOp::diag>()(exec, operand));
  }
};

struct OuterOperator {
  template <class A, class B>
  requires(!is_execution<A>) auto operator()(const A& x, const B& y) const {
    return apply_op(*this, Execution(), x, y);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class B>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& x, const B& y) const {
    return apply_op(*this, Execution(exec), x, y);
  }
};

template <class A, class B>
auto apply_op(const OuterOperator&, const Execution& execution, const A& x, const B& y) {
  constexpr auto fault = operand_fault<ElementwiseOp::multiply, A, B>();
  [[maybe_unused]] const ExpectOperands<fault> expected;
  constexpr bool has_ranks = operand_rank<A> == 1 && operand_rank<B> == 1;
  static_assert(has_ranks, "outer takes two tensors of 1 dim");
  if constexpr (fault == OperandFault::none && has_ranks) return call_outer(execution, x, y);
}

template <MatrixOp op>
const char* operator_name(const MatrixOperator<op>&) {
  return matrix_info(op).name;
}
inline const char* operator_name(const OuterOperator&) {
  return matrix_info(MatrixOp::outer).name;
}

}  // namespace detail

namespace ops {

// Each takes tensors, or Views of this rank; or an execution space instance first: diag(x),
// diag(x, 1), diag(exec, x, -1).

/// Returns a diagonal of a matrix as a vector, or the matrix that has a vector on a diagonal:
/// diag(x), diag(x, offset).
///
/// Shapes:     matrix (m, n) → (length of the diagonal), 0 if the offset is out of range;
///             vector (n) → (n + |offset|, n + |offset|), with 0 beside the diagonal.
/// Result:     The main diagonal of a matrix is split as the rows are, if it has one element for
///             each row; or as the columns are, if it has one for each column and the rows are not
///             split. Along any other mesh dim that splits the matrix, the diagonal is P(sum), of
///             bool P(bor): each rank has its own elements, and 0 elsewhere. Any Partial passes.
///             The matrix of a vector has its rows split as the vector is; with an offset it is
///             P(sum), of bool P(bor). P(sum) of numbers, P(avg) of floating-point and complex
///             numbers and P(bor) of bool pass; any other Partial is reduced first.
/// Collective: where a vector is reduced first, or two kinds of Partial would meet; otherwise
///             local.
/// Errors:     those of all operators above; InvalidArgument for a vector and an offset that give a
///             matrix of 2^63 or more elements.
inline constexpr detail::MatrixOperator<detail::MatrixOp::diag> diag;

/// Returns the sum of the main diagonal of a matrix, a tensor of 0 dims: trace(x) is sum(diag(x)).
///
/// Shapes:     (m, n) → ().
/// Result:     P(sum) where ranks hold parts of the diagonal. The type is that of sum: 64-bit of
///             integers and bool.
/// Collective: as diag; also where diag gives P(sum) of integers of less than 64 bits, or P(bor) of
///             bool, which sum reduces first.
/// Errors:     those of all operators above.
inline constexpr detail::TraceOperator trace;

/// Returns the tensor with 0 above a diagonal of each matrix: tril(x), tril(x, offset). The last
/// two dims are the matrix. Elements x(…, i, j) with j - i ≤ offset stay.
///
/// Shapes:     (…, m, n) → (…, m, n).
/// Result:     It is split as the operand is. P(sum) of numbers, P(avg) of floating-point and
///             complex numbers and P(bor) of bool pass; any other Partial is reduced first.
/// Collective: where the operand is reduced first; otherwise local.
/// Errors:     those of all operators above.
inline constexpr detail::MatrixOperator<detail::MatrixOp::tril> tril;
/// Returns the tensor with 0 below a diagonal of each matrix: triu(x), triu(x, offset). Elements
/// x(…, i, j) with j - i ≥ offset stay. Everything else is as for tril.
inline constexpr detail::MatrixOperator<detail::MatrixOp::triu> triu;

/// Returns the outer product of two vectors: outer(x, y) has the elements x(i) y(j), without
/// conjugation. Element types are equal, or floating-point and complex, which meet in the common
/// type.
///
/// Shapes:     (m) and (n) → (m, n).
/// Result:     Along a mesh dim that splits x, rows are split as x is; along one that splits y,
///             columns are split as y is. A Partial operand is reduced first.
/// Collective: where an operand is reduced first or moves; otherwise local.
/// Errors:     those of all operators above; PlacementMismatch where one mesh dim splits both
///             vectors; MeshMismatch for operands on different meshes.
///
/// Example: x as {S(0), R} and y as {R, S(0)} on a 2-d mesh give {S(0), S(1)}.
inline constexpr detail::OuterOperator outer;

}  // namespace ops
}  // namespace tessera
