// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tessera/ops/detail/reduction.hpp>
#include <tessera/ops/elementwise.hpp>
#include <tessera/redistribute/redistribute.hpp>

/// A reduction returns a tensor in which the elements along some tensor dims have become one.
///
/// It takes a tensor, and the dims over which it goes: one dim, Dims{0, 2}, KeepDims{0}, or nothing
/// for all dims, which gives a tensor of 0 dims. item() and items() return such results as numbers.
///
/// Result:     a tensor in the layout of the operand. Where ranks hold parts of what is reduced,
///             the result is Partial: nothing travels until it is needed. The exceptions: argmin,
///             argmax, std and the 2-norm exchange small tensors and give a result that is not
///             Partial; var reduces the mean first, and its result is Partial again.
/// Collective: argmin, argmax, var, std and the 2-norm where ranks hold parts of what is reduced,
///             and all reductions where they reduce a Partial tensor first; otherwise local.
/// Errors:     InvalidArgument for dims out of range or named twice, and for min, max, argmin and
///             argmax of no elements, and for two tensors of different shapes; MeshMismatch for
///             tensors on different meshes; PlacementMismatch for two tensors that do not fit, and for a Partial tensor that must be reduced
///             first, under RedistributionScope(Redistribution::none).
namespace tessera {

/// Names what ops::norm() computes.
enum class Norm : std::uint8_t {
  one,  ///< sum of absolute values
  two,  ///< square root of the sum of their squares
  inf,  ///< largest absolute value
};

namespace detail {

template <ReductionOp op, class V, class D>
auto apply_op(const ReductionOperator<op>&, const Execution& execution, const DTensor<V>& tensor,
              const D& over) {
  return call_reduction<op>(execution, over, 0, tensor);
}
template <ReductionOp op, LocalView V, class D>
auto apply_op(const ReductionOperator<op>&, const Execution& execution, const V& view,
              const D& over) {
  return call_reduction_on_views<op>(execution, over, 0, view);
}

/// Names KeepDims of the same dims.
template <std::size_t Rank, class D>
auto keeping_dims(const D& over) {
  if constexpr (std::is_same_v<D, AllDims>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return KeepDims<Rank>(static_cast<int>(I)...);
    }
    (std::make_index_sequence<Rank>());
  } else if constexpr (std::is_integral_v<D>) {
    return KeepDims<1>(over);
  } else {
    return [&]<std::size_t N>(const std::array<int, N>& dims) {
      return std::apply([](auto... d) { return KeepDims<N>(d...); }, dims);
    }(over.dims);
  }
}

/// Reduces tensors, or Views of this rank.
template <ReductionOp op, class D, class A, class... B>
auto reduce(const Execution& execution, const D& over, double correction, const A& first,
            const B&... second) {
  if constexpr (is_dtensor_v<A>)
    return call_reduction<op>(execution, over, correction, first, second...);
  else
    return call_reduction_on_views<op>(execution, over, correction, first, second...);
}

/// Throws PlacementMismatch if the tensor is Partial and must not be reduced here.
void require_may_reduce(const DTensorSpec& spec, const char* function);

/// Returns a tensor whose local pieces hold its values: reduced, if it is Partial; or a View as it is.
template <class A>
auto whole(const Execution& execution, const A& operand) {
  if constexpr (!is_dtensor_v<A>) {
    return operand;
  } else {
    using Reduced = decltype(reduce_partial(execution, operand));
    if constexpr (std::is_same_v<Reduced, A>)
      if (!operand.placements().has_partial()) return operand;
    return reduce_partial(execution, operand);
  }
}

/// Returns whole() of an operand. Errors: PlacementMismatch, naming the function, where a Partial must not be
/// reduced.
template <class A>
auto values_of(const Execution& execution, const A& operand, const char* function) {
  if constexpr (is_dtensor_v<A>) require_may_reduce(operand.spec(), function);
  return whole(execution, operand);
}

template <class A, class D>
auto variance(const Execution& execution, const A& tensor, const D& over, double correction,
              const char* function) {
  const auto values = values_of(execution, tensor, function);
  const auto mean =
      whole(execution,
            reduce<ReductionOp::mean>(execution, keeping_dims<operand_rank<A>>(over), 0, values));
  return reduce<ReductionOp::variance>(execution, over, correction, values, mean);
}

struct VarianceOperator {
  /// Returns the variance: the sum of the squared distances from the mean, divided by the number of
  /// elements less `correction`; NaN where that is not positive.
  template <class A, class D = AllDims>
  requires(!is_execution<A>) auto operator()(const A& tensor, const D& over = {},
                                             double correction = 1) const {
    return apply_op(*this, Execution(), tensor, over, correction);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class D = AllDims>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& tensor, const D& over = {},
                  double correction = 1) const {
    return apply_op(*this, Execution(exec), tensor, over, correction);
  }
};

template <class A, class D>
auto apply_op(const VarianceOperator&, const Execution& execution, const A& tensor, const D& over,
              double correction) {
  return variance(execution, tensor, over, correction, "var");
}

struct DeviationOperator {
  /// Returns the square root of the variance.
  template <class A, class D = AllDims>
  requires(!is_execution<A>) auto operator()(const A& tensor, const D& over = {},
                                             double correction = 1) const {
    return apply_op(*this, Execution(), tensor, over, correction);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class D = AllDims>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& tensor, const D& over = {},
                  double correction = 1) const {
    return apply_op(*this, Execution(exec), tensor, over, correction);
  }
};

template <class A, class D>
auto apply_op(const DeviationOperator&, const Execution& execution, const A& tensor, const D& over,
              double correction) {
  return ops::sqrt(execution,
                   whole(execution, variance(execution, tensor, over, correction, "std")));
}

struct NormOperator {
  /// Returns the norm of the elements.
  template <class A, class D = AllDims>
  requires(!is_execution<A>) auto operator()(const A& tensor, Norm norm = Norm::two,
                                             const D& over = {}) const {
    return apply_op(*this, Execution(), tensor, norm, over);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class D = AllDims>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& tensor, Norm norm = Norm::two,
                  const D& over = {}) const {
    return apply_op(*this, Execution(exec), tensor, norm, over);
  }
};

template <class A, class D>
auto apply_op(const NormOperator&, const Execution& execution, const A& tensor, Norm norm,
              const D& over) {
  if (norm == Norm::one) return reduce<ReductionOp::norm_one>(execution, over, 0, tensor);
  if (norm == Norm::inf) return reduce<ReductionOp::norm_inf>(execution, over, 0, tensor);
  return ops::sqrt(
      execution, whole(execution, reduce<ReductionOp::sum_of_squares>(execution, over, 0, tensor)));
}

template <ReductionOp op>
struct DotOperator {
  /// Returns the sum of the products of elements.
  template <class A, class B>
  requires(!is_execution<A>) auto operator()(const A& a, const B& b) const {
    return apply_op(*this, Execution(), a, b);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class B>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& a, const B& b) const {
    return apply_op(*this, Execution(exec), a, b);
  }
};

template <ReductionOp op, class A, class B>
auto apply_op(const DotOperator<op>&, const Execution& execution, const A& a, const B& b) {
  static_assert(std::is_same_v<typename OperandElement<A>::type, typename OperandElement<B>::type>,
                "dot and vdot take two tensors of one element type: convert one by to<T>(x)");
  static_assert(
      operand_rank<A> == operand_rank<B> && (op == ReductionOp::vdot || operand_rank<A> == 1),
      "dot takes two tensors of 1 dim, vdot two of one shape");
  return reduce<op>(execution, AllDims(), 0, a, b);
}

}  // namespace detail

namespace ops {

// The function objects in this namespace are the reductions. Each takes a tensor and the dims, or
// an execution space instance first: sum(x), sum(x, 0), sum(x, KeepDims{0}), sum(exec, x, Dims{0}).
//
// The error of a sum, of a mean and of dot is at most (n + log2 of the number of ranks) u times the
// sum of absolute values, for n elements per rank and unit roundoff u. Positions count in row-major
// order of the reduced dims: of equal elements argmin and argmax give the first one. NaN counts as
// least and as largest: if there is one, they give the first NaN. Dims{} reduces nothing, and gives
// the tensor with the element type of the result.

/// Returns the sum; of integers and bool as 64-bit integer, unsigned of unsigned ones, which wraps
/// around; 0 of no elements.
inline constexpr detail::ReductionOperator<detail::ReductionOp::sum> sum;
/// Returns the mean; of integers as double; NaN of no elements. Not of bool.
inline constexpr detail::ReductionOperator<detail::ReductionOp::mean> mean;
/// Returns the product; of integers and bool as the sum is; 1 of no elements.
inline constexpr detail::ReductionOperator<detail::ReductionOp::product> product;
/// Returns the smallest element; NaN if an element is NaN. Of real numbers, as max, argmin, argmax.
inline constexpr detail::ReductionOperator<detail::ReductionOp::min> min;
/// Returns the largest element; NaN if an element is NaN.
inline constexpr detail::ReductionOperator<detail::ReductionOp::max> max;
/// Returns whether an element is true; false of no elements. Of bool.
inline constexpr detail::ReductionOperator<detail::ReductionOp::any> any;
/// Returns whether all elements are true; true of no elements. Of bool.
inline constexpr detail::ReductionOperator<detail::ReductionOp::all> all;
/// Returns the number of elements other than 0, as int64. NaN counts.
inline constexpr detail::ReductionOperator<detail::ReductionOp::count_nonzero> count_nonzero;
/// Returns the position of the smallest element, as int64.
inline constexpr detail::ReductionOperator<detail::ReductionOp::argmin> argmin;
/// Returns the position of the largest element, as int64.
inline constexpr detail::ReductionOperator<detail::ReductionOp::argmax> argmax;

/// Returns the variance: var(x), var(x, dims), var(x, dims, correction). `correction` is 1 if it is
/// left out; of integers the result is double, of complex numbers real. Not of bool.
///
/// The mean is computed first, in one exchange where ranks hold parts; then the squared distances
/// from it are summed up. The error is at most (n + log2 of the number of ranks + 4) u times the
/// result, for n elements per rank and unit roundoff u, and the square of the error of the mean.
inline constexpr detail::VarianceOperator var;
/// Returns the standard deviation, the square root of var. The sum is reduced before the root is
/// taken, so that two exchanges are made where ranks hold parts.
inline constexpr detail::DeviationOperator std;
/// Returns the norm of the elements, as of one vector: norm(x), norm(x, Norm::one),
/// norm(x, Norm::inf, dims); of integers as double, of complex numbers real; 0 of no elements. The
/// relative error is at most (n + log2 of the number of ranks + 2) u.
///
/// The squares of the 2-norm are summed up in the element type (float16 and bfloat16 in float);
/// they overflow where elements are larger than the square root of its largest number.
inline constexpr detail::NormOperator norm;
/// Returns the sum of the products of elements: dot(x, y) of two tensors of 1 dim. Of integers it is
/// a 64-bit integer; 0 of no elements.
inline constexpr detail::DotOperator<detail::ReductionOp::dot> dot;
/// Returns the sum of the products of elements, those of x as complex conjugates: vdot(x, y) of two
/// tensors of one shape.
inline constexpr detail::DotOperator<detail::ReductionOp::vdot> vdot;

}  // namespace ops
}  // namespace tessera
