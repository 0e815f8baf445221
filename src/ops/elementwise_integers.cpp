// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number_types.hpp"
#include "ops/elementwise_dispatch.hpp"

namespace tessera::detail {

void run_on_integers(const Execution& execution, ElementwiseOp op, ElementKind kind,
                     const ElementwiseLoops& loops, std::span<const OperandRef> numbers) {
  with_integer_type(
      kind, [&]<class T>(std::type_identity<T>) { run_on<T>(execution, op, loops, numbers); });
}

}  // namespace tessera::detail
