// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/reductions.hpp>
#include <tessera/ops/softmax.hpp>
#include <tessera/ops/take.hpp>

/// The cross entropy of a row of logits x and a target t, the class of the row, is -log_softmax(x)[t]. It is
/// computed without overflow, and where ranks hold parts of the rows without gathering them. The
/// log_softmax of all rows is held while it is computed.
///
/// Shapes:     logits (N, C) of floating-point numbers, targets (N) of integers in [0, C).
/// Result:     cross_entropies gives a tensor (N) that is split as the rows or the targets are, and never
///             Partial; cross_entropy its mean, a tensor of 0 dims, as ops::mean gives it: Partial where
///             that tensor is split.
/// Collective: where columns are split, with three exchanges of N numbers: the largest logits,
///             the sums of exponentials, and the logits of the targets; where logits or targets are
///             Partial, which are reduced first; and where operands move by RedistributionScope.
///             Otherwise local.
/// Errors:     InvalidArgument for shapes that do not fit; MeshMismatch for tensors on different
///             meshes; PlacementMismatch for targets that are not split as the rows are, and for
///             Partial operands under RedistributionScope(Redistribution::none). InvalidArgument
///             for a target that is not in [0, C), on all ranks that have a part of its row, and on
///             others that hear of it in time; in memory of a device, which the host does not read,
///             such a target aborts the program.
namespace tessera {

namespace detail {

/// Describes the operator that picks the logits of the targets.
const OperatorInfo& cross_entropy_info();

/// Returns the shape of the losses. Errors: InvalidArgument if there is not one target for each
/// row.
Extents losses_shape(const Extents& logits, const Extents& targets);

/// Copies the logits of the targets: result[i] = logits[i, targets[i]]. Where ranks hold parts of the rows, it
/// exchanges what they have. `spec` is that of the logits. Errors: InvalidArgument for a target that is
/// no column.
void run_pick(const Execution& execution, const DeviceMesh& mesh, const DTensorSpec& spec,
              const ArrayRef& logits, const ArrayRef& targets, const ArrayRef& result);
/// Copies them on this rank alone.
void run_pick(const Execution& execution, const ArrayRef& logits, const ArrayRef& targets,
              const ArrayRef& result);

template <class A, class B>
consteval bool expect_cross_entropy() {
  constexpr bool are_alike = are_tensors_or_views<A, B>;
  static_assert(are_alike,
                "cross_entropy expects logits and targets that are two tensors, or two Views");
  if constexpr (are_alike) {
    constexpr bool are_floating = is_floating(element_kind<typename OperandElement<A>::type>);
    constexpr bool are_classes = is_index_v<typename OperandElement<B>::type>;
    constexpr bool have_dims = operand_rank<A> == 2 && operand_rank<B> == 1;
    constexpr bool is_one_space =
        is_in_space_of<typename OperandView<A>::type, typename OperandView<B>::type>;
    static_assert(are_floating,
                  "cross_entropy takes logits that are floating-point numbers: convert the tensor "
                  "by to<T>(x)");
    static_assert(are_classes, "cross_entropy expects targets that are integers");
    static_assert(have_dims, "cross_entropy expects logits of 2 dims and targets of 1 dim");
    static_assert(is_one_space, "cross_entropy expects logits and targets in one memory space");
    return are_floating && are_classes && have_dims && is_one_space;
  }
  return false;
}

/// Names the View type of one number for each row.
template <class V>
using row_view_t = view_like_t<V, std::remove_const_t<typename V::value_type>, 1>;

/// Returns the logits of the targets.
template <class V, class I>
DTensor<row_view_t<V>> picked(const Execution& execution, const DTensor<V>& logits,
                              const DTensor<I>& targets) {
  using T = std::remove_const_t<typename V::value_type>;
  using Class = std::remove_const_t<typename I::value_type>;
  const std::array operands{operand_ref<T>(logits), operand_ref<Class>(targets)};
  const CallRequest request{cross_entropy_info(), operands, element_type<T>(), {1}};
  const auto kernel = [&](const PreparedCall& call, std::span<const ArrayRef> arrays,
                          const ArrayRef& to) {
    run_pick(execution, logits.device_mesh(), input_of(call, 0), arrays[0], arrays[1], to);
  };
  return call_with_kernel<row_view_t<V>>(execution, request, kernel, logits, targets);
}
template <LocalView V, LocalView I>
row_view_t<V> picked(const Execution& execution, const V& logits, const I& targets) {
  const auto& info = cross_entropy_info();
  return named(info.function.text, [&] {
    const auto shape = extents_of(logits);
    auto result = allocate<row_view_t<V>>(losses_shape(shape, extents_of(targets)), info.label);
    run_pick(execution, array_ref(logits), array_ref(targets), array_ref(result));
    return result;
  });
}

/// Returns the cross entropy of each row: no logit is much larger than what is subtracted from it.
template <class A, class B>
auto losses(const Execution& execution, const A& logits, const B& targets) {
  const auto values = values_of(execution, logits, cross_entropy_info().function.text);
  return ops::negate(execution, picked(execution, ops::log_softmax(execution, values, 1), targets));
}

struct CrossEntropiesOperator {
  /// Returns the cross entropy of each row.
  template <class A, class B>
  requires(!is_execution<A>) auto operator()(const A& logits, const B& targets) const {
    return apply_op(*this, Execution(), logits, targets);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class B>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& logits, const B& targets) const {
    return apply_op(*this, Execution(exec), logits, targets);
  }
};

struct CrossEntropyOperator {
  /// Returns the mean of the cross entropies of the rows.
  template <class A, class B>
  requires(!is_execution<A>) auto operator()(const A& logits, const B& targets) const {
    return apply_op(*this, Execution(), logits, targets);
  }
  /// Orders the work on `exec`.
  template <class Space, class A, class B>
  requires is_execution<Space>
  auto operator()(const Space& exec, const A& logits, const B& targets) const {
    return apply_op(*this, Execution(exec), logits, targets);
  }
};

template <class A, class B>
auto apply_op(const CrossEntropiesOperator&, const Execution& execution, const A& logits,
              const B& targets) {
  if constexpr (expect_cross_entropy<A, B>()) return losses(execution, logits, targets);
}
template <class A, class B>
auto apply_op(const CrossEntropyOperator&, const Execution& execution, const A& logits,
              const B& targets) {
  if constexpr (expect_cross_entropy<A, B>())
    return reduce<ReductionOp::mean>(execution, AllDims(), 0, losses(execution, logits, targets));
}

inline const char* operator_name(const CrossEntropiesOperator&) {
  return cross_entropy_info().name;
}
inline const char* operator_name(const CrossEntropyOperator&) {
  return cross_entropy_info().name;
}

}  // namespace detail

namespace ops {

// Each takes logits and targets, both tensors or both Views of this rank; or an execution space
// instance first: cross_entropy(logits, targets). Rules that a program registers for either hold
// for both: they say how the operator that picks the logits of the targets takes its operands.
//
// NaN in a row makes its cross entropy NaN. A row in which the logit of the target is -infinity and
// another one is finite gives infinity; a row of -infinities alone, or with infinity, gives NaN.

/// Returns the cross entropy of each row, without a mean; ops::sum() of it is their sum.
inline constexpr detail::CrossEntropiesOperator cross_entropies;
/// Returns the mean of the cross entropies of all rows; NaN of no rows.
///
/// Example: logits (0, 0, 0, 0) with target 3 give ln 4.
inline constexpr detail::CrossEntropyOperator cross_entropy;

}  // namespace ops
}  // namespace tessera
