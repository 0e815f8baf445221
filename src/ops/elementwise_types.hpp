// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <tessera/ops/detail/elementwise_kernel.hpp>
#include <tessera/ops/detail/elementwise_op.hpp>

namespace tessera::detail {

/// Runs an elementwise operator on operands of one element type. `numbers` are those that are no
/// operands of the kernel: the limits of clamp, the factors of axpby.
void run_elementwise(const Execution& execution, ElementwiseOp op, ElementType type,
                     const ElementwiseLoops& loops, std::span<const OperandRef> numbers);

/// Returns the number that changes no sum: -0, or 0 of integers and bool.
NumberBytes neutral_number(ElementKind kind);

/// Run it for the kinds of types that their names say.
void run_on_integers(const Execution& execution, ElementwiseOp op, ElementKind kind,
                     const ElementwiseLoops& loops, std::span<const OperandRef> numbers);
void run_on_floats(const Execution& execution, ElementwiseOp op, ElementKind kind,
                   const ElementwiseLoops& loops, std::span<const OperandRef> numbers);
void run_on_complex(const Execution& execution, ElementwiseOp op, ElementKind kind,
                    const ElementwiseLoops& loops, std::span<const OperandRef> numbers);

}  // namespace tessera::detail
