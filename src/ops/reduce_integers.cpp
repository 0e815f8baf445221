// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number_types.hpp"
#include "ops/reduction_work.hpp"

namespace tessera::detail {

void reduce_integers(const Execution& execution, ReductionOp op, ElementKind kind,
                     const ReductionLoops& loops) {
  with_integer_type(kind,
                    [&]<class T>(std::type_identity<T>) { reduce_as<T>(execution, op, loops); });
}

}  // namespace tessera::detail
