// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include <tessera/ops/detail/call.hpp>
#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/detail/reduction_op.hpp>

namespace tessera {

namespace detail {

const OperatorInfo& matmul_info();

/// Multiplies local pieces, and, where the call needs it, exchanges panels of them.
void run_matmul(const Execution& execution, const DeviceMesh& mesh, const PreparedCall& call,
                std::span<const ArrayRef> operands, const ArrayRef& result);
/// Multiplies arrays of this rank. The shapes must fit each other.
void run_matmul(const Execution& execution, std::span<const ArrayRef> operands,
                const ArrayRef& result);

/// Returns the shape of a product. Errors: InvalidArgument for shapes that do not fit.
Extents product_shape(const Extents& a, const Extents& b);

/// Returns the number of dims of a product, given those of its operands.
consteval std::size_t product_rank(std::size_t a, std::size_t b) {
  const std::size_t leading = std::max<std::size_t>({2, a, b}) - 2;
  return leading + (a >= 2 ? 1 : 0) + (b >= 2 ? 1 : 0);
}

template <class V, class W>
consteval bool expect_matmul() {
  using T = std::remove_const_t<typename V::value_type>;
  constexpr bool is_one_type = std::is_same_v<T, std::remove_const_t<typename W::value_type>>;
  static_assert(is_one_type,
                "matmul takes two tensors of one element type: convert one by to<T>(x)");
  constexpr bool is_number = (bit_of(element_kind<T>) & all_numbers) != 0;
  static_assert(is_number,
                "matmul takes tensors of numbers, not of bool: convert them by to<T>(x)");
  constexpr std::size_t a = V::rank(), b = W::rank();
  constexpr bool fits = a >= 1 && b >= 1 && (a <= 2 || b <= 2 || a == b);
  static_assert(fits,
                "matmul takes tensors of at least 1 dim, of which both have the same leading dims, "
                "or one has none");
  static_assert(memory_space<V> == memory_space<W>,
                "matmul takes tensors in one memory space: convert one by to<View>(x)");
  return is_one_type && is_number && fits && memory_space<V> == memory_space<W>;
}

/// Names the View type of a product.
template <class V, class W>
using product_view_t =
    view_like_t<V, reduced_element_t<ReductionOp::dot, std::remove_const_t<typename V::value_type>>,
                product_rank(V::rank(), W::rank())>;

template <LocalView V, LocalView W>
auto call_matmul(const Execution& execution, const DTensor<V>& a, const DTensor<W>& b) {
  using T = std::remove_const_t<typename V::value_type>;
  using Result = product_view_t<V, W>;
  const auto& info = matmul_info();
  const std::array operands{operand_ref<T>(a), operand_ref<T>(b)};
  const CallRequest request{info, operands, element_type<typename Result::value_type>()};
  const auto kernel = [&](const PreparedCall& call, std::span<const ArrayRef> arrays,
                          const ArrayRef& to) {
    run_matmul(execution, a.device_mesh(), call, arrays, to);
  };
  return call_with_kernel<Result>(execution, request, kernel, a, b);
}
template <LocalView V, LocalView W>
auto call_matmul(const Execution& execution, const V& a, const W& b) {
  const auto& info = matmul_info();
  return named(info.function.text, [&] {
    const std::array arrays{array_ref(a), array_ref(b)};
    auto result = allocate<product_view_t<V, W>>(
        product_shape(arrays[0].extents, arrays[1].extents), info.label);
    run_matmul(execution, arrays, array_ref(result));
    return result;
  });
}

struct MatmulOperator {
  template <class A, class B>
  requires(!is_execution<A>) auto operator()(const A& a, const B& b) const {
    return (*this)(Execution(), a, b);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class B>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& a, const B& b) const {
    return apply_op(*this, Execution(exec), a, b);
  }
};

template <class A, class B>
auto apply_op(const MatmulOperator&, const Execution& execution, const A& a, const B& b) {
  constexpr bool are_tensors = is_dtensor_v<A> && is_dtensor_v<B>;
  constexpr bool are_views = is_local_view<A> && is_local_view<B>;
  static_assert(
      are_tensors || are_views,
      "matmul takes two tensors, or two Views: give a View of values that all ranks have as "
      "implicit(view), of an ImplicitReplication implicit(mesh)");
  if constexpr (!are_tensors && !are_views)
    return;
  else if constexpr (expect_matmul<typename OperandView<A>::type, typename OperandView<B>::type>())
    return call_matmul(execution, a, b);
}

inline const char* operator_name(const MatmulOperator&) {
  return "matmul";
}

}  // namespace detail

namespace ops {

/// Returns the matrix product: matmul(a, b) of (…, m, k) and (…, k, n) is (…, m, n). Leading dims are equal,
/// or one operand has none and is taken for each of them. A tensor of 1 dim is a row on the left and a
/// column on the right, and its dim is dropped from the result: (m, k) by (k) is (m), (k) by (k) is a
/// tensor of 0 dims. Operands are tensors, or Views of this rank; complex numbers are not conjugated.
///
/// Result:     in the layout of `a`; of integers 64-bit ones, which wrap around. A mesh dim that splits leading
///             dims of both, rows of `a`, or columns of `b` splits the same of the result; one that splits
///             what is summed up in both gives P(sum), and nothing travels until it is needed. Matrices that are
///             both [S(0), S(1)] along two mesh dims give such a matrix: panels of both travel, while others
///             are multiplied (SUMMA).
/// Collective: for SUMMA, and where a Partial operand is reduced first; otherwise local.
/// Errors:     InvalidArgument for shapes that do not fit; MeshMismatch; PlacementMismatch for placements
///             that do not fit.
///
/// The error of an element is at most (k + log2 of the number of ranks) u times the sum of absolute values
/// of its products, with unit roundoff u. A BLAS multiplies floating-point and complex numbers on the host,
/// if the build has one, and Kokkos Kernels does on devices; see docs/install.md.
/// Source: van de Geijn and Watts, SUMMA: Scalable Universal Matrix Multiplication Algorithm (1997).
inline constexpr detail::MatmulOperator matmul;

}  // namespace ops
}  // namespace tessera
