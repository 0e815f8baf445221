// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/reductions.hpp>
#include <tessera/ops/cumsum.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/ops/matrix.hpp>
#include <tessera/ops/softmax.hpp>
#include <tessera/tensor/slice.hpp>

// Linear algebra with variables: it computes as with tensors and Views, and is recorded.
namespace tessera {

namespace detail {

/// Returns the array with its last two dims exchanged; no element moves. The result of a View does not own
/// the memory.
template <class A>
auto transposed(const A& array) {
  if constexpr (is_dtensor_v<A>) {
    return transpose(array);
  } else {
    constexpr std::size_t rank = A::rank();
    Kokkos::LayoutStride layout;
    for (std::size_t d = 0; d < rank; ++d) {
      const auto from = d < rank - 2 ? d : 2 * rank - 3 - d;
      layout.dimension[d] = array.extent(from);
      layout.stride[d] = array.stride(from);
    }
    return within_view_t<A, rank>(array.data(), layout);
  }
}

/// Returns the array with a new dim of extent 1.
template <class A>
auto with_dim(const A& array, std::size_t dim) {
  return with_dims<operand_rank<A> + 1>(array, std::array{static_cast<std::int64_t>(dim)});
}

/// Returns the gradient with respect to the first factor of a product, whose second factor is b.
template <class A, class G, class B>
gradient_t<A> adjoint_of_first_factor(const Form<A>& form, const G& dy, const B& b) {
  constexpr auto rank = operand_rank<A>, other = operand_rank<B>;
  const auto factor = conjugate(b);
  if constexpr (rank == 1 && other == 1)
    return as_gradient<A>(ops::multiply(factor, dy));
  else if constexpr (rank == 1)
    return unstretched(form, ops::sum(ops::multiply(factor, with_dim(dy, other - 2)), -1));
  else if constexpr (other == 1)
    return as_gradient<A>(ops::multiply(with_dim(dy, rank - 1), factor));
  else
    return unstretched(form, ops::matmul(dy, transposed(factor)));
}

/// Returns the gradient with respect to the second factor of a product, whose first factor is a.
template <class B, class G, class A>
gradient_t<B> adjoint_of_second_factor(const Form<B>& form, const G& dy, const A& a) {
  constexpr auto rank = operand_rank<B>, other = operand_rank<A>;
  const auto factor = conjugate(a);
  if constexpr (rank == 1 && other == 1)
    return as_gradient<B>(ops::multiply(factor, dy));
  else if constexpr (other == 1)
    return as_gradient<B>(ops::multiply(with_dim(factor, 1), with_dim(dy, rank - 2)));
  else if constexpr (rank == 1 && other == 2)
    return as_gradient<B>(ops::matmul(transposed(factor), dy));
  else if constexpr (rank == 1)
    return unstretched(form, ops::sum(ops::multiply(factor, with_dim(dy, other - 1)), -2));
  else
    return unstretched(form, ops::matmul(transposed(factor), dy));
}

template <class A, class B>
requires HasVariable<A, B>
auto apply_op(const MatmulOperator& function, const Execution& execution, const A& x, const B& y) {
  return record_bilinear(
      "matmul", function, execution, x, y,
      [](const auto& form, const auto& dy, const auto& b) {
        return adjoint_of_first_factor(form, dy, b);
      },
      [](const auto& form, const auto& dy, const auto& a) {
        return adjoint_of_second_factor(form, dy, a);
      });
}

template <class A, class B>
requires HasVariable<A, B>
auto apply_op(const OuterOperator& function, const Execution& execution, const A& x, const B& y) {
  return record_bilinear(
      "outer", function, execution, x, y,
      [](const auto&, const auto& dy, const auto& b) { return ops::matmul(dy, conjugate(b)); },
      [](const auto&, const auto& dy, const auto& a) {
        return ops::matmul(transposed(dy), conjugate(a));
      });
}

/// Returns a matrix of this form with a vector on a diagonal.
template <class T, class G>
gradient_t<T> from_diagonal(const Form<T>& form, const G& vector, std::int64_t offset) {
  const auto square = ops::diag(vector, offset);
  if (shape_of(square) == form.shape()) return as_gradient<T>(square);
  const auto result = form.zeros();
  const auto rows = std::min(form.shape()[0], shape_of(square)[0]);
  const auto columns = std::min(form.shape()[1], shape_of(square)[1]);
  if constexpr (is_dtensor_v<T>) {
    redistribute_into(slice(result, Range{0, rows}, Range{0, columns}),
                      slice(square, Range{0, rows}, Range{0, columns}));
  } else {
    const std::pair<std::int64_t, std::int64_t> i{0, rows}, j{0, columns};
    Kokkos::deep_copy(Kokkos::subview(result, i, j), Kokkos::subview(square, i, j));
  }
  return result;
}

template <MatrixOp op, class T>
auto apply_op(const MatrixOperator<op>& function, const Execution& execution,
              const grad::BasicVariable<T>& x, std::int64_t offset) {
  const auto name = matrix_info(op).function.text;
  const auto y = function(execution, x.detach(), offset);
  const auto tape = tape_of(x);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, name, x, Keep::nothing);
  return recorded(tape, y, [=](const auto& dy) {
    if constexpr (op == MatrixOp::diag && operand_rank<T> == 2)
      input.add(from_diagonal(input.form(), dy, offset));
    else
      input.add(function(dy, offset));
  });
}

template <SoftmaxOp op, class T>
auto apply_op(const SoftmaxOperator<op>& function, const Execution& execution,
              const grad::BasicVariable<T>& variable, int dim) {
  const auto name = softmax_info(op).function.text;
  const auto x = reduced_operand(variable, name);
  const auto y = function(execution, x.detach(), dim);
  const auto tape = tape_of(x);
  if (!tape) return unrecorded(y);
  constexpr bool is_of_rows = op == SoftmaxOp::logsumexp;
  const auto input = input_of(*tape, name, x, keep_if(is_of_rows));
  const auto output = input_of(*tape, name, y, keep_if(!is_of_rows));
  return recorded(tape, y, [input, output, dim](const auto& dy) {
    constexpr auto rank = operand_rank<T>;
    if constexpr (is_of_rows) {
      input.add(ops::multiply(ops::softmax(input.value(), dim), kept<rank>(dy, dim)));
    } else if constexpr (op == SoftmaxOp::softmax) {
      const auto weighted = ops::multiply(dy, output.value());
      const auto sums = whole(Execution(), ops::sum(weighted, KeepDims<1>(dim)));
      input.add(ops::subtract(weighted, ops::multiply(output.value(), sums)));
    } else {
      const auto sums = whole(Execution(), ops::sum(dy, KeepDims<1>(dim)));
      input.add(ops::subtract(dy, ops::multiply(ops::exp(output.value()), sums)));
    }
  });
}

template <class T>
auto apply_op(const CumsumOperator& function, const Execution& execution,
              const grad::BasicVariable<T>& x, int dim) {
  const auto y = function(execution, x.detach(), dim);
  const auto tape = tape_of(x);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, "cumsum", x, Keep::nothing);
  return recorded(tape, y, [input, dim](const auto& dy) {
    const auto sums = whole(Execution(), ops::sum(dy, KeepDims<1>(dim)));
    input.add(ops::add(ops::subtract(sums, ops::cumsum(dy, dim)), dy));
  });
}

}  // namespace detail
}  // namespace tessera
