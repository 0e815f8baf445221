// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number_types.hpp"
#include "ops/reduction_work.hpp"

namespace tessera::detail {

void reduce_others(const Execution& execution, ReductionOp op, ElementKind kind,
                   const ReductionLoops& loops) {
  const auto reduce = [&]<class T>(std::type_identity<T>) { reduce_as<T>(execution, op, loops); };
  if (kind == ElementKind::boolean) return reduce(std::type_identity<Boolean>{});
  is_complex(kind) ? with_complex_type(kind, reduce) : with_floating_type(kind, reduce);
}

}  // namespace tessera::detail
