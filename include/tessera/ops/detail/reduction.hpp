// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <tessera/ops/detail/call.hpp>
#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/detail/misuse.hpp>
#include <tessera/ops/detail/reduction_op.hpp>
#include <tessera/ops/dims.hpp>

namespace tessera::detail {

/// Stands for all dims.
struct AllDims {};

/// Tells how many dims a result has, given those of the operand and what it is reduced over.
template <class D>
inline constexpr bool is_reduced_dims = std::is_integral_v<D> || std::is_same_v<D, AllDims>;
template <std::size_t N>
inline constexpr bool is_reduced_dims<Dims<N>> = true;
template <std::size_t N>
inline constexpr bool is_reduced_dims<KeepDims<N>> = true;

template <class D>
inline constexpr std::size_t dropped_dims = 1;
template <std::size_t N>
inline constexpr std::size_t dropped_dims<Dims<N>> = N;
template <std::size_t N>
inline constexpr std::size_t dropped_dims<KeepDims<N>> = 0;

template <std::size_t Rank, class D>
consteval std::size_t reduced_rank() {
  if constexpr (std::is_same_v<D, AllDims>)
    return 0;
  else
    return Rank >= dropped_dims<D> ? Rank - dropped_dims<D> : 0;
}

/// Holds the dims that a reduction goes over, counted from the first one, ascending.
struct ReducedDims {
  Extents dims;
  bool keeps = false;
};

/// Returns these dims of a tensor of `tensor_dims` dims. Errors: InvalidArgument for a dim out of range
/// or named twice.
ReducedDims reduced_dims(std::span<const int> dims, bool keeps, std::size_t tensor_dims);

template <class D>
ReducedDims reduced_dims_of(const D& over, std::size_t tensor_dims) {
  if constexpr (std::is_same_v<D, AllDims>) {
    ReducedDims result;
    for (std::size_t d = 0; d < tensor_dims; ++d)
      result.dims.push_back(static_cast<std::int64_t>(d));
    return result;
  } else if constexpr (std::is_integral_v<D>) {
    return reduced_dims(std::array{static_cast<int>(over)}, false, tensor_dims);
  } else {
    return reduced_dims(over.dims, dropped_dims<D> == 0 && !over.dims.empty(), tensor_dims);
  }
}

const OperatorInfo& reduction_info(ReductionOp op);

/// Reduces local pieces to a local result, in one kernel, or in two where threads share few results.
/// `divisor` divides what mean and variance sum up. On `mesh`, if it is not
/// null, device memory of earlier calls is reused.
void run_reduction(const Execution& execution, ReductionOp op, const DeviceMesh* mesh,
                   std::span<const ArrayRef> operands, const ReducedDims& over, double divisor,
                   const ArrayRef& result);

/// Finds for each result the position of the least or largest element in row-major order of the reduced
/// dims, the first one among equals; NaN counts as least and as largest. Where ranks hold parts of what is
/// reduced, as `spec` says, it exchanges what they found.
void run_arg_reduction(const Execution& execution, ReductionOp op, const DeviceMesh& mesh,
                       const DTensorSpec& spec, const ArrayRef& operand, const ReducedDims& over,
                       const ArrayRef& result);
/// Finds the positions in an array of this rank alone.
void run_arg_reduction(const Execution& execution, ReductionOp op, const ArrayRef& operand,
                       const ReducedDims& over, const ArrayRef& result);

/// Returns the number of elements that become one.
std::int64_t reduced_size(const Extents& shape, const Extents& dims);

/// Returns the shape of the result.
Extents reduced_shape(const Extents& shape, const ReducedDims& over);

/// Throws InvalidArgument if the op has no result of no elements and there are none.
void require_elements(ReductionOp op, const Extents& shape, const ReducedDims& over);

/// Names the View type of a reduction's result.
template <ReductionOp op, class V, class D>
using reduced_view_t =
    view_like_t<V, reduced_element_t<op, std::remove_const_t<typename V::value_type>>,
                reduced_rank<V::rank(), D>()>;

template <ReductionOp op, class V, class D>
consteval bool expect_reduction() {
  using T = std::remove_const_t<typename V::value_type>;
  constexpr bool is_kind = (bit_of(element_kind<T>) & traits_of(op).kinds) != 0;
  static_assert(is_kind,
                "this reduction has no result for elements of this type: convert the tensor by "
                "to<T>(x), or compare it first, as in any(x != 0) written ops::not_equal_to(x, 0)");
  static_assert(is_reduced_dims<D>,
                "a reduction takes one dim, Dims{0, 2}, KeepDims{0}, or nothing for all dims");
  constexpr bool fits =
      !is_reduced_dims<D> || std::is_same_v<D, AllDims> || dropped_dims<D> <= V::rank();
  static_assert(fits, "a reduction cannot go over more dims than the tensor has");
  return is_kind && is_reduced_dims<D> && fits;
}

/// Reduces one tensor, or two of one shape.
template <ReductionOp op, class D, class V, class... W>
auto call_reduction(const Execution& execution, const D& over, double correction,
                    const DTensor<V>& first, const DTensor<W>&... second) {
  if constexpr (expect_reduction<op, V, D>()) {
    using T = std::remove_const_t<typename V::value_type>;
    using Result = reduced_view_t<op, V, D>;
    const auto& info = reduction_info(op);
    const auto dims = named(info.function.text, [&] { return reduced_dims_of(over, V::rank()); });
    const std::array operands{operand_ref<T>(first), operand_ref<T>(second)...};
    const CallRequest request{info, operands, element_type<typename Result::value_type>(),
                              dims.dims, dims.keeps};
    const auto& mesh = common_mesh(request);
    named(info.function.text, [&] { require_elements(op, first.shape(), dims); });
    const double divisor = static_cast<double>(reduced_size(first.shape(), dims.dims)) - correction;
    const auto kernel = [&](const PreparedCall& call, std::span<const ArrayRef> arrays,
                            const ArrayRef& to) {
      if constexpr (op == ReductionOp::argmin || op == ReductionOp::argmax)
        run_arg_reduction(execution, op, mesh, input_of(call, 0), arrays[0], dims, to);
      else
        run_reduction(execution, op, &mesh, arrays, dims, divisor, to);
    };
    return call_with_kernel<Result>(execution, request, kernel, first, second...);
  } else {
    return DTensor<V>();
  }
}

/// Reduces a View of this rank.
template <ReductionOp op, class D, class V, class... W>
auto call_reduction_on_views(const Execution& execution, const D& over, double correction,
                             const V& first, const W&... second) {
  if constexpr (expect_reduction<op, V, D>()) {
    using Result = reduced_view_t<op, V, D>;
    const auto& info = reduction_info(op);
    return named(info.function.text, [&] {
      const auto dims = reduced_dims_of(over, V::rank());
      const auto shape = extents_of(first);
      require_elements(op, shape, dims);
      const std::array arrays{array_ref(first), array_ref(second)...};
      auto result = allocate<Result>(reduced_shape(shape, dims), info.label);
      if constexpr (op == ReductionOp::argmin || op == ReductionOp::argmax)
        run_arg_reduction(execution, op, arrays[0], dims, array_ref(result));
      else
        run_reduction(execution, op, nullptr, arrays, dims,
                      static_cast<double>(reduced_size(shape, dims.dims)) - correction,
                      array_ref(result));
      return result;
    });
  } else {
    return V();
  }
}

/// Calls a reduction of one tensor: a function object.
template <ReductionOp op>
struct ReductionOperator {
  template <class A, class D = AllDims>
  requires(!is_execution<A>) auto operator()(const A& tensor, const D& over = {}) const {
    return apply_op(*this, Execution(), tensor, over);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class D = AllDims>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& tensor, const D& over = {}) const {
    return apply_op(*this, Execution(exec), tensor, over);
  }
};

}  // namespace tessera::detail
