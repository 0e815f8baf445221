// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <type_traits>

#include <tessera/ops/detail/reduction.hpp>

/// The softmax family reduces over one dim, also where ranks hold parts of it: they exchange the largest
/// elements and the sums of exponentials, one number for each row, and no elements.
///
/// Result:     softmax and log_softmax give a tensor like the operand, with its placements; logsumexp
///             one without the dim, as reductions do, but never Partial.
/// Collective: where ranks hold parts of the dim, with two exchanges, and where a Partial tensor is
///             reduced first; otherwise local.
/// Errors:     InvalidArgument for a dim out of range; PlacementMismatch for a Partial tensor under
///             RedistributionScope(Redistribution::none).
namespace tessera {

namespace detail {

enum class SoftmaxOp : std::uint8_t { softmax, log_softmax, logsumexp };

const OperatorInfo& softmax_info(SoftmaxOp op);

/// Computes on the local piece of a tensor with this spec, and exchanges what ranks with other parts of
/// `dim` need. The result of logsumexp lacks this dim. `mesh` and `spec` are
/// null for a View of this rank alone.
void run_softmax(const Execution& execution, SoftmaxOp op, const DeviceMesh* mesh,
                 const DTensorSpec* spec, const ArrayRef& operand, std::int64_t dim,
                 const ArrayRef& result);

template <class V>
consteval bool expect_softmax() {
  using T = std::remove_const_t<typename V::value_type>;
  static_assert(is_floating(element_kind<T>),
                "the softmax family takes floating-point elements: convert the tensor by to<T>(x)");
  static_assert(V::rank() > 0, "the softmax family takes a tensor of at least one dim");
  return is_floating(element_kind<T>) && V::rank() > 0;
}

/// Names the View type of a result.
template <SoftmaxOp op, class V>
using softmax_view_t = view_like_t<V, std::remove_const_t<typename V::value_type>,
                                   op == SoftmaxOp::logsumexp ? V::rank() - 1 : V::rank()>;

template <SoftmaxOp op, LocalView V>
auto call_softmax(const Execution& execution, const DTensor<V>& tensor, int dim) {
  using T = std::remove_const_t<typename V::value_type>;
  using Result = softmax_view_t<op, V>;
  const auto& info = softmax_info(op);
  const auto dims = named(info.function.text,
                          [&] { return reduced_dims(std::array{dim}, false, V::rank()).dims; });
  const std::array operands{operand_ref<T>(tensor)};
  const CallRequest request{info, operands, element_type<T>(), dims};
  const auto kernel = [&](const PreparedCall& call, std::span<const ArrayRef> arrays,
                          const ArrayRef& to) {
    run_softmax(execution, op, &tensor.device_mesh(), &input_of(call, 0), arrays[0], dims[0], to);
  };
  return call_with_kernel<Result>(execution, request, kernel, tensor);
}
template <SoftmaxOp op, LocalView V>
auto call_softmax(const Execution& execution, const V& view, int dim) {
  const auto& info = softmax_info(op);
  return named(info.function.text, [&] {
    const auto over = reduced_dims(std::array{dim}, false, V::rank());
    const auto shape = extents_of(view);
    auto result = allocate<softmax_view_t<op, V>>(
        op == SoftmaxOp::logsumexp ? reduced_shape(shape, over) : shape, info.label);
    run_softmax(execution, op, nullptr, nullptr, array_ref(view), over.dims[0], array_ref(result));
    return result;
  });
}

/// Calls a member of the family: a function object.
template <SoftmaxOp op>
struct SoftmaxOperator {
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

template <SoftmaxOp op, class A>
auto apply_op(const SoftmaxOperator<op>&, const Execution& execution, const A& operand, int dim) {
  if constexpr (expect_softmax<typename OperandView<A>::type>())
    return call_softmax<op>(execution, operand, dim);
}

template <SoftmaxOp op>
const char* operator_name(const SoftmaxOperator<op>&) {
  return softmax_info(op).name;
}

}  // namespace detail

namespace ops {

// Each takes a tensor, or a View of this rank, and a dim; or an execution space instance first:
// softmax(x, 1), softmax(exec, x, -1). NaN in a row makes the whole row NaN, and so does infinity, of which
// logsumexp is infinity. float16 and bfloat16 are computed in float, and rounded at the end.

/// Returns exp(x) / sum(exp(x)) along the dim, computed from differences to the largest element, so
/// that nothing overflows.
inline constexpr detail::SoftmaxOperator<detail::SoftmaxOp::softmax> softmax;
/// Returns log(softmax(x)), computed as (x - largest element) - log(sum of exponentials).
inline constexpr detail::SoftmaxOperator<detail::SoftmaxOp::log_softmax> log_softmax;
/// Returns log(sum(exp(x))) along the dim, without overflow; -infinity of no elements.
inline constexpr detail::SoftmaxOperator<detail::SoftmaxOp::logsumexp> logsumexp;

}  // namespace ops
}  // namespace tessera
