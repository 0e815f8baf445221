// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/reductions.hpp>
#include <tessera/ops/cross_entropy.hpp>
#include <tessera/ops/detail/cross_entropy_adjoint.hpp>
#include <tessera/ops/detail/take_adjoint.hpp>
#include <tessera/ops/take.hpp>

// take, cross_entropy and cross_entropies with a table, or logits, that is a variable: they
// compute as with tensors and Views, and are recorded. Indices and targets are tensors, or Views,
// of integers, as there.
//
// The gradient of take adds up in the rows that the indices name. Where ranks have parts of the
// indices, it is P(sum) until it reaches a watched table. Rows of a table that is split along the
// dim are added by the rank that has them. The backward passes of both need no exchange of their
// own.
namespace tessera {
namespace detail {

/// Returns the gradient with respect to a table of this form.
template <class T, class G, class I>
gradient_t<T> adjoint_of_table(const Form<T>& form, const G& dy, const I& indices, int dim) {
  const auto at = dim < 0 ? dim + static_cast<int>(operand_rank<T>) : dim;
  if constexpr (is_dtensor_v<T>)
    return take_adjoint<redistributed_view_t<typename T::view_type>>(dy, indices, form.spec, at);
  else
    return take_adjoint<redistributed_view_t<T>>(dy, indices, form.shape(), at);
}

template <class T, class I>
auto apply_op(const TakeOperator& function, const Execution& execution,
              const grad::BasicVariable<T>& table, const I& indices, int dim) {
  if constexpr (expect_take<T, I>()) {
    const auto y = function(execution, table.detach(), indices, dim);
    const auto tape = tape_of(table);
    if (!tape) return unrecorded(y);
    const auto input = input_of(*tape, "take", table, Keep::nothing);
    const auto chosen = input_of(*tape, "take", indices);
    return recorded(tape, y, [input, chosen, dim](const auto& dy) {
      input.add(adjoint_of_table(input.form(), dy, chosen.value(), dim));
    });
  }
}

template <class T, class I>
auto apply_op(const CrossEntropiesOperator&, const Execution& execution,
              const grad::BasicVariable<T>& logits, const I& targets) {
  if constexpr (expect_cross_entropy<T, I>()) {
    const auto name = cross_entropy_info().function.text;
    const auto x = reduced_operand(logits, name);
    const auto logs = ops::log_softmax(execution, x.detach(), 1);
    const auto y = ops::negate(execution, picked(execution, logs, targets));
    const auto tape = tape_of(x);
    if (!tape) return unrecorded(y);
    const auto input = input_of(*tape, name, x, Keep::nothing);
    const auto output = input_of(*tape, name, logs);
    const auto classes = input_of(*tape, name, targets);
    return recorded(tape, y, [input, output, classes](const auto& dy) {
      using Result = typename OperandView<gradient_t<T>>::type;
      input.add(cross_entropy_adjoint<Result>(output.value(), classes.value(), dy));
    });
  }
}

template <class T, class I>
auto apply_op(const CrossEntropyOperator&, const Execution& execution,
              const grad::BasicVariable<T>& logits, const I& targets) {
  if constexpr (expect_cross_entropy<T, I>())
    return ops::mean(execution, CrossEntropiesOperator()(execution, logits, targets));
}

}  // namespace detail
}  // namespace tessera
