// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <type_traits>

#include <tessera/ops/detail/reduction.hpp>

namespace tessera {

namespace detail {

const OperatorInfo& cumsum_info();

/// Computes running sums along `dim` of the local piece of a tensor with this spec, and exchanges the
/// sums of what ranks with other parts of `dim` hold. `mesh` and `spec` are null for a View of this
/// rank alone.
void run_cumsum(const Execution& execution, const DeviceMesh* mesh, const DTensorSpec* spec,
                const ArrayRef& operand, std::int64_t dim, const ArrayRef& result);

template <class V>
consteval bool expect_cumsum() {
  using T = std::remove_const_t<typename V::value_type>;
  static_assert(is_number_v<T>, "cumsum takes a tensor of numbers");
  static_assert(V::rank() > 0, "cumsum takes a tensor of at least one dim");
  return is_number_v<T> && V::rank() > 0;
}

/// Names the View type of a result.
template <class V>
using cumsum_view_t =
    view_like_t<V, reduced_element_t<ReductionOp::sum, std::remove_const_t<typename V::value_type>>,
                V::rank()>;

template <LocalView V>
auto call_cumsum(const Execution& execution, const DTensor<V>& tensor, int dim) {
  using T = std::remove_const_t<typename V::value_type>;
  using Result = cumsum_view_t<V>;
  const auto& info = cumsum_info();
  const auto dims = named(info.function.text,
                          [&] { return reduced_dims(std::array{dim}, false, V::rank()).dims; });
  const std::array operands{operand_ref<T>(tensor)};
  const CallRequest request{info, operands, element_type<typename Result::value_type>(), dims};
  const auto kernel = [&](const PreparedCall& call, std::span<const ArrayRef> arrays,
                          const ArrayRef& to) {
    run_cumsum(execution, &tensor.device_mesh(), &input_of(call, 0), arrays[0], dims[0], to);
  };
  return call_with_kernel<Result>(execution, request, kernel, tensor);
}
template <LocalView V>
auto call_cumsum(const Execution& execution, const V& view, int dim) {
  const auto& info = cumsum_info();
  return named(info.function.text, [&] {
    const auto dims = reduced_dims(std::array{dim}, false, V::rank()).dims;
    auto result = allocate<cumsum_view_t<V>>(extents_of(view), info.label);
    run_cumsum(execution, nullptr, nullptr, array_ref(view), dims[0], array_ref(result));
    return result;
  });
}

/// Computes running sums: a function object.
struct CumsumOperator {
  template <class A>
  requires(!is_execution<A>) auto operator()(const A& operand, int dim) const {
    return apply_op(*this, Execution(), operand, dim);
  }
  /// Orders the work on `exec`.
  template <class Space, class A>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& operand, int dim) const {
    return apply_op(*this, Execution(exec), operand, dim);
  }
};

template <class A>
auto apply_op(const CumsumOperator&, const Execution& execution, const A& operand, int dim) {
  if constexpr (expect_cumsum<typename OperandView<A>::type>())
    return call_cumsum(execution, operand, dim);
}

inline const char* operator_name(const CumsumOperator&) {
  return "cumsum";
}

}  // namespace detail

namespace ops {

/// Returns the running sums of a tensor, or of a View of this rank, along one dim: element k of a line
/// is the sum of elements 0 to k of the line. cumsum(x, 0), cumsum(exec, x, -1).
///
/// Sums of integers and bool are 64-bit integers, unsigned of unsigned ones, which wrap around;
/// float16 and bfloat16 are summed in float. The error of element k is at most k u times the sum of
/// the absolute values of elements 0 to k, to first order in the unit roundoff u of the type that is
/// summed in; rounding to a 16-bit result adds half a unit in the last place.
///
/// Example:    1, 2, 3, 4 gives 1, 3, 6, 10.
/// Shapes:     [n_0 … n_{k-1}] → [n_0 … n_{k-1}].
/// Result:     a tensor with the placements and boundaries of the operand, also where `dim` is split.
///             P(sum) and P(avg) of floating-point and complex elements, and P(sum) of 64-bit
///             integers stay; other Partial tensors are reduced first. The order of summation depends
///             on shape, placements, memory layout and space, and the number of threads.
/// Collective: where ranks hold parts of `dim`, with one exchange of one number for each line and
///             each interval of indices that a rank holds (for each block of Cyclic), and where a
///             Partial tensor is reduced first; otherwise local.
/// Errors:     InvalidArgument for a dim out of range; PlacementMismatch for a Partial tensor that
///             must be reduced first, under RedistributionScope(Redistribution::none).
inline constexpr detail::CumsumOperator cumsum;

}  // namespace ops
}  // namespace tessera
